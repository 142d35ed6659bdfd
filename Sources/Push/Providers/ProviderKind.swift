/// A push service, whether or not there are credentials of it. Two are the same if their names are.
package struct ProviderKind: Sendable {
  package let type: any Provider.Type

  package init(_ type: any Provider.Type) { self.type = type }

  package var name: String { type.name }
}

extension ProviderKind: CaseIterable {
  /// The push services that devices register with. A new one is a file in this folder and a line here.
  package static let allCases: [ProviderKind] = [
    .apns,
    .fcm,
    .webPush,
  ]
}

extension ProviderKind: Hashable {
  package static func == (a: ProviderKind, b: ProviderKind) -> Bool { a.name == b.name }

  package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// What is known of a push service without its credentials.
package protocol ProviderTraits: Sendable {
  /// As the API, rows and metrics call it, and, with hyphens, the option that names its credentials.
  static var name: String { get }
  /// Whose it is, such as `Apple's`.
  static var owner: String { get }
  /// What the file of its credentials is, as the help says it.
  static var credentials: String { get }

  /// The shards of its devices: rows have them, so that they stay, and no other push service has them.
  static var shards: Range<Int> { get }

  /// The shard of a device.
  static func shard(ofAddress address: String) -> Int

  /// The values of `environment` that its devices may have.
  static var environments: [String] { get }

  /// Whether an app can show what it gets (`Notification.Style.data`).
  static var deliversData: Bool { get }

  /// Whether its devices are browsers: the server of each is named by its user, and shows each notification.
  static var isOfBrowsers: Bool { get }

  /// What the path calls the key that browsers subscribe with, such as `vapid-key`; nil: it has none.
  static var subscriptionKeyName: String? { get }

  /// Whether a server is that of the maker of the devices, and not one that any user may name.
  static func isOfMaker(_ origin: Origin) -> Bool

  /// The header fields of responses that it reads, in lowercase.
  static var responseFields: Set<String> { get }

  /// The address of a phone that registers with a token.
  ///
  /// - Throws: `invalidDevice` for a token of another form.
  static func address(ofToken token: String) throws(PushError) -> String

  /// The device with an address.
  ///
  /// - Parameters:
  ///   - address: of `address(ofToken:)`, or the endpoint of a subscription.
  ///   - keys: of a subscription.
  ///   - environment: one of `environments`; nil: that of the credentials.
  /// - Throws: `invalidDevice` for a subscription that cannot be used.
  static func device(at address: String, keys: Device.Keys?, environment: String?) throws(PushError) -> Device
}

extension ProviderTraits {
  package static func shard(ofAddress address: String) -> Int { shards.lowerBound }

  package static var environments: [String] { [] }

  package static var deliversData: Bool { false }

  package static var isOfBrowsers: Bool { false }

  package static var subscriptionKeyName: String? { nil }

  package static func isOfMaker(_ origin: Origin) -> Bool { true }

  package static var responseFields: Set<String> { ["retry-after"] }

  package static func address(ofToken token: String) throws(PushError) -> String { token }
}
