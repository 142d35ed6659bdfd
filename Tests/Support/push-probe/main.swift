// push-probe: reads an order in JSON from standard input, sends its notifications, and prints their outcomes in JSON. For Tests/push.
import FoundationEssentials
import Glibc
import Model
import Platform
import Push

struct Order: Decodable {
  struct Shown: Decodable {
    let title: String
    let body: String
    let mediaUrl: String?
    let badge: Int?
    let collapseId: String?
    let expiresIn: Int
  }

  struct Target: Decodable {
    let apns: String?
    let fcm: String?
    let endpoint: String?
    let p256dh: String?
    let auth: String?
    let pager: String?

    func device() throws(PushError) -> Device {
      if let apns { return .apns(apns) }
      if let fcm { return .fcm(fcm) }
      if let pager { return Pager.device(at: pager, keys: nil, environment: nil) }
      return .webPush(try Device.Subscription(endpoint: endpoint ?? "", p256dh: p256dh ?? "", auth: auth ?? ""))
    }
  }

  let apns: String?
  let fcm: String?
  let webPush: String?
  let pager: String?
  let port: UInt16
  let certificates: String
  let permitted: [String]
  let timeout: Int
  let notification: Shown
  let devices: [Target]?
  /// How often they are sent to, one time after the other; the outcomes are those of the last time.
  let repeats: Int?
  /// Instead of devices: a number of device tokens of Apple.
  let count: Int?
  /// Instead of all else: the plural categories of numbers are printed for each of these locales.
  let plurals: Plurals?

  struct Plurals: Decodable {
    let locales: [String]
    let numbers: [Int]
  }
}

struct Report: Encodable {
  let outcomes: [String: Int]
  let seconds: Double
  let cpuSeconds: Double
  let maxRssKilobytes: Int
}

func standardInput() -> [UInt8] {
  var (bytes, chunk) = ([UInt8](), [UInt8](repeating: 0, count: 1 << 16))
  // Ends: with the input.
  while true {
    let count = read(0, &chunk, chunk.count)
    if count <= 0 { return bytes }
    bytes += chunk[..<count]
  }
}

extension Sender {
  /// Sends notifications, and returns once each has an outcome.
  func sendAll(_ deliveries: [Delivery], report: @escaping @Sendable (Int, Outcome) -> Void) async {
    guard !deliveries.isEmpty else { return }
    let rest = Locked(deliveries.count)
    let isComplete = OneShot<Void>()
    send(deliveries) { index, outcome in
      report(index, outcome)
      let left = rest.withLock { rest in
        rest -= 1
        return rest
      }
      if left == 0 { isComplete.fulfil(()) }
    }
    await isComplete.value
  }
}

let order = try JSON.decode(Order.self, from: standardInput())
if let plurals = order.plurals {
  let categories = plurals.locales.map { locale in
    (locale, plurals.numbers.map { PluralCategory(of: $0, locale: locale).rawValue })
  }
  print(try JSON.text(Dictionary(uniqueKeysWithValues: categories)))
  exit(0)
}
/// The push services that an order may have credentials of.
let kinds = ProviderKind.allCases + [.pager]
let files = ["apns": order.apns, "fcm": order.fcm, "web_push": order.webPush, "pager": order.pager]
let origin = Origin(host: "localhost", port: order.port)
var configuration = Sender.Configuration()
for kind in kinds {
  guard case .some(.some(let file)) = files[kind.name] else { continue }
  configuration.providers.append(try kind.type.init(file: file, origin: origin))
}
configuration.certificates = order.certificates
configuration.permitted = order.permitted.compactMap { AddressRange($0) }
configuration.timeout = .seconds(order.timeout)
let sender = try Sender(configuration)
let shown = order.notification
let notification = Notification(
  kind: "window", title: shown.title, body: shown.body, badge: shown.badge, mediaURL: shown.mediaUrl,
  data: ["post": "1"], collapseID: shown.collapseId, expiry: time(nil) + shown.expiresIn)

if let targets = order.devices {
  let outcomes = Locked([String](repeating: "", count: targets.count))
  var deliveries: [Delivery] = []
  var indices: [Int] = []
  for (index, target) in targets.enumerated() {
    do {
      deliveries.append(Delivery(notification, to: try target.device()))
      indices.append(index)
    } catch { outcomes.withLock { $0[index] = "invalid: \(error)" } }
  }
  let places = indices
  for _ in 0..<(order.repeats ?? 1) {
    await sender.sendAll(deliveries) { index, outcome in outcomes.withLock { $0[places[index]] = "\(outcome)" } }
  }
  print(try JSON.text(outcomes.withLock { $0 }))
} else {
  // As a queue would: pages of devices, some at a time.
  let count = order.count ?? 0
  let counts = Locked([String: Int]())
  let start = ContinuousClock.now
  let pages = stride(from: 0, to: count, by: 1000).map { $0..<min($0 + 1000, count) }
  try await pages.forEach(concurrently: 4) { page in
    let deliveries = page.map { index in
      let digits = String(index, radix: 16)
      return Delivery(notification, to: .apns(String(repeating: "0", count: 64 - digits.count) + digits))
    }
    await sender.sendAll(deliveries) { _, outcome in
      let name = String("\(outcome)".prefix { $0 != "(" })
      counts.withLock { $0[name, default: 0] += 1 }
    }
  } receive: { _, _ in
  }
  let (seconds, attoseconds) = (ContinuousClock.now - start).components
  var usage = rusage()
  getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
  func cpu(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
  print(
    try JSON.text(
      Report(
        outcomes: counts.withLock { $0 }, seconds: Double(seconds) + Double(attoseconds) / 1e18,
        cpuSeconds: cpu(usage.ru_utime) + cpu(usage.ru_stime), maxRssKilobytes: usage.ru_maxrss)))
}
sender.stop()
