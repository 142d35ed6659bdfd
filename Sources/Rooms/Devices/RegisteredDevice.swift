package import FoundationEssentials
internal import HTTPServer
internal import Kit
internal import Model
import Postgres
package import Push
import Queue
import Store

/// A phone or a browser that receives the notifications of a user.
package struct RegisteredDevice: Sendable, Hashable {
  package typealias Platform = ProviderKind

  /// In minutes of the day.
  struct QuietHours: Sendable, Hashable {
    let from: Int
    let until: Int
  }

  let user: String
  /// Its name in paths.
  let token: String
  /// The name of its push service, which this version need not know: a newer one may have registered it.
  let provider: String
  /// The token, or the endpoint of the subscription.
  let address: String
  /// Of a browser.
  let keys: Device.Keys?
  let locale: String?
  let zone: String?
  /// The kinds of events that it wants; nil: all.
  let kinds: [String]?
  let quietHours: QuietHours?
  /// Where the token is valid; nil: where the credentials say.
  let environment: String?
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
    provider = try row.get("provider")
    address = try row.get("address")
    keys = try row.keys()
    locale = try row.get("locale")
    zone = try row.get("zone")
    kinds = try row.get("kinds", as: String?.self).map { $0.split(separator: " ").map(String.init) }
    quietHours = try row.get("quiet_from", as: Int?.self).map {
      QuietHours(from: $0, until: try row.get("quiet_until"))
    }
    environment = try row.get("environment")
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
    [provider, token, address]
      + [
        locale, zone, kinds?.joined(separator: " "), quietHours?.text, environment, isData ? "data" : nil,
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
    platform = device.provider
    endpoint = isWhole && device.keys != nil ? device.address : nil
    locale = device.locale
    zone = device.zone
    kinds = device.kinds
    quietHours = device.quietHours.map {
      QuietHours(from: RegisteredDevice.QuietHours.text($0.from), until: RegisteredDevice.QuietHours.text($0.until))
    }
    (environment, asData, silentKinds) = (device.environment, device.isData, device.silentKinds)
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
  let keys: Device.Keys?
  let locale: String?
  let zone: String?
  let kinds: [String]?
  let quietHours: RegisteredDevice.QuietHours?
  let environment: String?
  let isData: Bool
  let silentKinds: [String]

  /// Reads the fields of a body; throws a problem that names every invalid field.
  ///
  /// - Parameter platforms: the valid ones.
  init(
    token: String, fields: [String: JSONValue],
    platforms: [RegisteredDevice.Platform] = RegisteredDevice.Platform.allCases
  ) throws(Problem) {
    var reader = FieldReader(fields, path: "")
    let name = reader.choice("platform", among: platforms.map(\.name), isRequired: true)
    let platform = platforms.first { $0.name == name }
    let subscription: (endpoint: String, keys: Device.Keys)? = reader.object("subscription") { reader in
      let endpoint = reader.required("endpoint", limit: 2000)
      // Browsers write it, as null (Push API, PushSubscription.toJSON).
      _ = reader.value("expirationTime", "expected a number") { $0 }
      let keys = reader.object("keys") { reader in
        Device.Keys(
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
    environment = reader.choice("environment", among: platforms.flatMap { $0.type.environments })
    isData = reader.flag("as_data")
    silentKinds =
      reader.value("silent_kinds", "expected a list of \(Devices.kinds.joined(separator: ", "))", Self.kinds) ?? []
    func isFor(_ isMeant: (RegisteredDevice.Platform) -> Bool) -> String {
      "is for " + platforms.filter(isMeant).map(\.name).joined(separator: ", ")
    }
    let isBrowser = platform?.type.isOfBrowsers == true
    if let environment, platform?.type.environments.contains(environment) != true {
      reader.refuse("environment", isFor { $0.type.environments.contains(environment) })
    }
    if isData, platform?.type.deliversData != true { reader.refuse("as_data", isFor { $0.type.deliversData }) }
    if !silentKinds.isEmpty, isBrowser, let name {
      reader.refuse("silent_kinds", "is not for \(name): browsers show each notification")
    }
    if quietHours != nil, zone == nil { reader.refuse("zone", "is required for quiet hours") }
    if isBrowser, subscription == nil {
      reader.refuse("subscription", "expected {\"endpoint\": …, \"keys\": {\"p256dh\": …, \"auth\": …}}")
    }
    if !isBrowser, subscription != nil { reader.refuse("subscription", isFor { $0.type.isOfBrowsers }) }
    var address = token
    do throws(PushError) {
      if !isBrowser {
        address = try platform?.type.address(ofToken: token) ?? token
      } else if let (endpoint, keys) = subscription {
        _ = try platform?.type.device(at: endpoint, keys: keys, environment: nil)
        address = endpoint
      }
    } catch {
      reader.refuse("platform", error.description)
    }
    try reader.check()
    guard let platform else { throw ProblemKind.invalid([FieldError("platform", "is required")]) }
    (self.platform, self.address, keys) = (platform, address, subscription?.keys)
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

extension FieldReader {
  /// Reads one of several names.
  fileprivate mutating func choice(_ field: String, among names: [String], isRequired: Bool = false) -> String? {
    let expected = "expected one of " + names.map { "\"\($0)\"" }.joined(separator: ", ")
    return value(field, expected, isRequired: isRequired) { value in
      guard case .string(let text) = value else { return nil }
      return names.first { $0.utf8.elementsEqual(text.utf8) }
    }
  }
}

extension Row {
  /// The push service of a device.
  func provider(among providers: [ProviderKind]) throws(PostgresError) -> ProviderKind {
    let name: String = try get("provider")
    guard let provider = providers.first(where: { $0.name == name }) else {
      throw PostgresError(.decoding, "unknown provider '\(name)' in column provider")
    }
    return provider
  }

  /// The keys of a subscription; nil: the device is no browser.
  func keys() throws(PostgresError) -> Device.Keys? {
    guard let p256dh = try get("p256dh", as: String?.self) else { return nil }
    return Device.Keys(p256dh: p256dh, auth: try get("auth"))
  }
}
