package import FoundationEssentials
internal import HTTPServer
internal import Kit
internal import Model
import Postgres
internal import Push
import Queue
import Store

/// A phone or a browser that receives the notifications of a user.
package struct RegisteredDevice: Sendable, Hashable {
  package enum Platform: String, Sendable, CaseIterable {
    case apns
    case fcm
    case webPush = "web_push"
  }

  /// The keys of a subscription of a browser, in base64url.
  struct Keys: Sendable, Hashable {
    let p256dh: String
    let auth: String
  }

  /// In minutes of the day.
  struct QuietHours: Sendable, Hashable {
    let from: Int
    let until: Int
  }

  let user: String
  /// Its name in paths.
  let token: String
  package let platform: Platform
  /// The token, or the endpoint of the subscription.
  let address: String
  let keys: Keys?
  let locale: String?
  let zone: String?
  /// The kinds of events that it wants; nil: all.
  let kinds: [String]?
  let quietHours: QuietHours?
  /// Where a token of Apple's is valid; nil: where the credentials say.
  let environment: APNs.Environment?
  /// Whether the app on Android shows what it gets.
  let isData: Bool
  /// The kinds that the app learns of, and that are not shown.
  let silentKinds: [String]
  package let registeredAt: Date
  package let lastOutcome: String?
  package let lastOutcomeAt: Date?

  init(_ row: Row) throws {
    user = try row.get("user_id")
    token = try row.get("token")
    platform = try row.enumValue("provider")
    address = try row.get("address")
    keys = try row.get("p256dh", as: String?.self).map { Keys(p256dh: $0, auth: try row.get("auth")) }
    locale = try row.get("locale")
    zone = try row.get("zone")
    kinds = try row.get("kinds", as: String?.self).map { $0.split(separator: " ").map(String.init) }
    quietHours = try row.get("quiet_from", as: Int?.self).map {
      QuietHours(from: $0, until: try row.get("quiet_until"))
    }
    environment = try row.get("environment", as: String?.self).flatMap { APNs.Environment(rawValue: $0) }
    isData = try row.get("is_data")
    silentKinds = try row.get("silent_kinds", as: String.self).split(separator: " ").map(String.init)
    registeredAt = Date(microseconds: try row.get("registered_at"))
    lastOutcome = try row.get("last_outcome")
    lastOutcomeAt = try row.get("last_outcome_at", as: Int64?.self).map(Date.init(microseconds:))
  }

  /// The end of the token, by which a person recognizes it.
  package var shortToken: String { token.count > 12 ? "…" + token.suffix(8) : token }
}

extension RegisteredDevice: Versioned {
  var version: some Encodable {
    [platform.rawValue, token, address]
      + [
        locale, zone, kinds?.joined(separator: " "), quietHours?.text, environment?.rawValue, isData ? "data" : nil,
        silentKinds.joined(separator: " "),
      ].map { $0 ?? "" }
  }
}

extension RegisteredDevice.QuietHours {
  init?(from: String, until: String) {
    guard let from = Self.minutes(from), let until = Self.minutes(until), from != until else { return nil }
    (self.from, self.until) = (from, until)
  }

  /// Reads a time of day such as `22:30`.
  private static func minutes(_ text: String) -> Int? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy { 0x30...0x39 ~= $0 } }),
      let hours = Int(parts.first ?? "-"), let minutes = Int(parts.last ?? "-"), hours < 24, minutes < 60
    else { return nil }
    return hours * 60 + minutes
  }

  fileprivate static func text(_ minutes: Int) -> String {
    [minutes / 60, minutes % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }.joined(separator: ":")
  }

  fileprivate var text: String { "\(Self.text(from))-\(Self.text(until))" }
}

/// The JSON of a device, without the keys of a subscription.
package struct DeviceResponse: NilEncodable, Sendable {
  struct QuietHours: Encodable, Sendable {
    let from: String
    let until: String
  }

  let token: String
  let platform: String
  let endpoint: String?
  let locale: String?
  let zone: String?
  let kinds: [String]?
  let quietHours: QuietHours?
  let environment: String?
  let asData: Bool
  let silentKinds: [String]
  let registeredAt: Date
  let lastOutcome: String?
  let lastOutcomeAt: Date?

  /// - Parameter isWhole: whether the token and the endpoint are shown, which are for the user alone.
  package init(_ device: RegisteredDevice, isWhole: Bool) {
    token = isWhole ? device.token : device.shortToken
    platform = device.platform.rawValue
    endpoint = isWhole && device.platform == .webPush ? device.address : nil
    locale = device.locale
    zone = device.zone
    kinds = device.kinds
    quietHours = device.quietHours.map {
      QuietHours(from: RegisteredDevice.QuietHours.text($0.from), until: RegisteredDevice.QuietHours.text($0.until))
    }
    (environment, asData, silentKinds) = (device.environment?.rawValue, device.isData, device.silentKinds)
    registeredAt = device.registeredAt
    (lastOutcome, lastOutcomeAt) = (device.lastOutcome, device.lastOutcomeAt)
  }

  /// The device as one line of text.
  package var line: String {
    let outcome = lastOutcome.map { "\($0) \(lastOutcomeAt.map(JSON.text(of:)) ?? "")" } ?? "nothing sent"
    return "\(platform)  \(token)  registered \(JSON.text(of: registeredAt))  \(outcome)"
  }
}

/// What a request says of a device.
struct DeviceDraft: Sendable {
  let platform: RegisteredDevice.Platform
  let address: String
  let keys: RegisteredDevice.Keys?
  let locale: String?
  let zone: String?
  let kinds: [String]?
  let quietHours: RegisteredDevice.QuietHours?
  let environment: APNs.Environment?
  let isData: Bool
  let silentKinds: [String]

  /// Reads the fields of a body; throws a problem that names every invalid field.
  init(token: String, fields: [String: JSONValue]) throws(Problem) {
    var reader = FieldReader(fields, path: "")
    let platform = reader.choice("platform", of: RegisteredDevice.Platform.self, isRequired: true)
    let subscription: (endpoint: String, keys: RegisteredDevice.Keys)? = reader.object("subscription") { reader in
      let endpoint = reader.required("endpoint", limit: 2000)
      // Browsers write it, as null (Push API, PushSubscription.toJSON).
      _ = reader.value("expirationTime", "expected a number") { $0 }
      let keys = reader.object("keys") { reader in
        RegisteredDevice.Keys(
          p256dh: reader.required("p256dh", limit: 100), auth: reader.required("auth", limit: 30))
      }
      if keys == nil { reader.refuse("keys", "is required") }
      return keys.map { (endpoint, $0) }
    }
    locale = reader.value("locale", "expected a language tag such as \"de\" or \"de-AT\"", Self.locale)
    zone = reader.text("zone", limit: MaxLength.name)
    kinds = reader.value("kinds", "expected a list of \(Devices.kinds.joined(separator: ", "))", Self.kinds)
    quietHours = reader.value(
      "quiet_hours", "expected two different times of day such as {\"from\": \"22:00\", \"until\": \"07:30\"}",
      Self.quietHours)
    environment = reader.choice("environment", of: APNs.Environment.self)
    isData = reader.flag("as_data")
    silentKinds =
      reader.value("silent_kinds", "expected a list of \(Devices.kinds.joined(separator: ", "))", Self.kinds) ?? []
    if environment != nil, platform != .apns { reader.refuse("environment", "is for apns") }
    if isData, platform != .fcm { reader.refuse("as_data", "is for fcm") }
    if !silentKinds.isEmpty, platform == .webPush {
      reader.refuse("silent_kinds", "is not for web_push: browsers show each notification")
    }
    if quietHours != nil, zone == nil { reader.refuse("zone", "is required for quiet hours") }
    if platform == .webPush, subscription == nil {
      reader.refuse("subscription", "expected {\"endpoint\": …, \"keys\": {\"p256dh\": …, \"auth\": …}}")
    }
    if platform != .webPush, subscription != nil { reader.refuse("subscription", "is for web_push") }
    if let problem = Self.problem(token, platform, subscription) { reader.refuse("platform", problem) }
    try reader.check()
    self.platform = platform ?? .apns
    // Apple's tokens are hexadecimal digits, in whichever case an app writes them.
    address = subscription?.endpoint ?? (platform == .apns ? token.lowercased() : token)
    keys = subscription?.keys
  }

  /// What is wrong with the address of a device; nil if nothing is.
  private static func problem(
    _ token: String, _ platform: RegisteredDevice.Platform?,
    _ subscription: (endpoint: String, keys: RegisteredDevice.Keys)?
  ) -> String? {
    switch platform {
    case .apns:
      let isToken =
        64...200 ~= token.utf8.count
        && token.utf8.allSatisfy {
          0x30...0x39 ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0 | 0x20
        }
      return isToken ? nil : "the token in the path is not one of Apple's, 64 to 200 hexadecimal digits"
    case .fcm, nil: return nil
    case .webPush:
      guard let (endpoint, keys) = subscription else { return nil }
      do throws(PushError) {
        _ = try Device.Subscription(endpoint: endpoint, p256dh: keys.p256dh, auth: keys.auth)
        return nil
      } catch {
        return error.description
      }
    }
  }

  static func locale(_ value: JSONValue) -> String? {
    // As `Locale.identifier` of iOS has it: de_DE.
    guard case .string(let given) = value else { return nil }
    let text = given.replacing("_", with: "-")
    guard 1...35 ~= text.utf8.count,
      text.split(separator: "-", omittingEmptySubsequences: false).allSatisfy({ part in
        1...8 ~= part.utf8.count
          && part.utf8.allSatisfy { 0x30...0x39 ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 | 0x20 }
      })
    else { return nil }
    return text
  }

  private static func kinds(_ value: JSONValue) -> [String]? {
    guard case .array(let values) = value, values.count <= Devices.kinds.count else { return nil }
    let texts = values.compactMap { value in if case .string(let text) = value { text } else { nil } }
    return texts.count == values.count && Set(texts).isSubset(of: Devices.kinds) ? texts : nil
  }

  private static func quietHours(_ value: JSONValue) -> RegisteredDevice.QuietHours? {
    guard case .object(let fields) = value, fields.count == 2, case .string(let from)? = fields["from"],
      case .string(let until)? = fields["until"]
    else { return nil }
    return RegisteredDevice.QuietHours(from: from, until: until)
  }
}
