import CRoomsSQL
import FoundationEssentials
internal import Kit
package import Model
package import Postgres
internal import Push
package import Queue
package import Store

/// The phones and browsers of users, and the notifications that are to be sent to them.
package enum Devices: EventConsumer, CredentialObserver {
  package static let statements = Statements(topic: "devices", Store.fragments, RoomsSQL.Devices)

  package static let migrations = [
    Migration(version: 151, name: "devices", RoomsSQL.v0151_devices),
    Migration(version: 169, name: "reached_providers", RoomsSQL.v0169_reached_providers),
    Migration(version: 177, name: "push_shards", RoomsSQL.v0177_push_shards),
  ]

  package static var settingAside: [SetAside.Table] { [.device, .pushDelivery] }

  package static var exports: [Export] {
    [Export("devices", statements["devices_by_user"]) { DeviceResponse(try RegisteredDevice($0), isWhole: false) }]
  }

  package static var forgetting: [ForgettingStep] {
    [
      ForgettingStep(
        mention: "EXISTS (SELECT FROM device WHERE user_id = $1)", atEnd: statements["drop_devices_of_user"])
    ]
  }

  /// The largest number of devices of a user, and of subscriptions of browsers among them.
  static let maxDevices = 20
  static let maxSubscriptions = 5

  /// The kinds of events that devices receive.
  static let pushed = UserEvent.Kind.allCases.filter { EventKind($0).push != nil }
  static let kinds = pushed.map(\.rawValue)

  /// Registers a device of a user, or changes it. It leaves the user whose it was before; those of the user that were registered first
  /// go beyond the limits.
  ///
  /// - Parameter check: receives the locked device, nil if there is none; an error from it prevents the change.
  /// - Returns: the device, and whether it is new; nil if its time zone is unknown.
  /// - Throws: `ForgottenRefusal`, `SuspendedRefusal`.
  static func save(
    _ draft: DeviceDraft, named token: String, of user: String, by caller: Caller, zones: KnownTimeZones,
    _ session: Session, check: (RegisteredDevice?) throws -> Void
  ) throws -> (device: RegisteredDevice, isNew: Bool)? {
    if let zone = draft.zone, try !zones.contain(zone, session) { return nil }
    try Store.requireUsers(user, in: session)
    try session.execute(statements["lock_address"], .text(draft.platform.name), .text(draft.address))
    let found = try lock(token, of: user, session)
    try check(found)
    let names: [Parameter] = [.text(user), .text(token), .text(draft.platform.name), .text(draft.address)]
    try session.execute(statements["drop_other_device"], names)
    var key: Int64?
    if case .key(let id) = caller.credential { key = id }
    let shard = PushShards.shard(of: draft)
    let saved = try session.execute(
      statements["save_device"],
      names + [
        .text(draft.keys?.p256dh), .text(draft.keys?.auth), .integer(shard), .text(draft.locale), .text(draft.zone),
        draft.kinds.map { .texts($0) } ?? .null, .integer(draft.quietHours.map { Int64($0.from) }),
        .integer(draft.quietHours.map { Int64($0.until) }), .text(caller.token?.id.description), .integer(key),
        .text(draft.environment), .bool(draft.isData), .texts(draft.silentKinds),
      ])
    try session.execute(
      statements["drop_surplus_devices"], .text(user), .integer(maxDevices), .integer(maxSubscriptions),
      .texts(RegisteredDevice.Platform.allCases.filter { $0.type.isOfBrowsers }.map(\.name)))
    return (try RegisteredDevice(saved.single()), found == nil)
  }

  /// The devices of a user, in the order of their first registration.
  package static func list(of user: String, _ session: Session) throws -> [RegisteredDevice] {
    try session.execute(statements["devices"], .text(user)).map { try RegisteredDevice($0) }
  }

  /// Removes a device of a user; false if the user has no such device.
  ///
  /// - Parameter check: receives the locked device; the caller must roll back if it throws.
  static func delete(
    _ token: String, of user: String, _ session: Session, check: (RegisteredDevice) throws -> Void
  ) throws -> Bool {
    guard let device = try lock(token, of: user, session) else { return false }
    try check(device)
    return try session.execute(statements["drop_device"], .text(user), .text(token)).affected > 0
  }

  private static func lock(_ token: String, of user: String, _ session: Session) throws -> RegisteredDevice? {
    try session.execute(statements["lock_device"], .text(user), .text(token)).first.map { try RegisteredDevice($0) }
  }

  /// Removes the devices of a user who is suspended.
  package static func suspended(user: String, _ session: Session) throws {
    try session.execute(statements["drop_devices_of_user"], .text(user))
  }

  /// Removes the devices that revoked tokens have registered.
  package static func revoked(tokens: [PublicID], _ session: Session) throws {
    guard !tokens.isEmpty else { return }
    try session.execute(statements["drop_devices_of_credentials"], .texts(tokens.map(\.description)))
  }

  /// The API keys that have registered devices.
  package static func named(keys: [Int64], _ session: Session) throws -> [Int64] {
    try session.execute(statements["registering_keys"], .integers(keys)).map { try $0.get("id") }
  }

  /// The number of devices of a provider whose last notification had an outcome, `none` if there was none yet.
  package struct Count: Encodable, Sendable {
    package let provider: String
    package let outcome: String
    package let devices: Int
  }

  package static func counts(_ session: Session) throws -> [Count] {
    try session.execute(statements["device_counts"]).map {
      Count(provider: try $0.get("provider"), outcome: try $0.get("outcome"), devices: try $0.get("devices"))
    }
  }

  // MARK: Events

  package static func receive(from first: Int64, through last: Int64, _ session: Session) throws {
    let lifetimes = pushed.map { EventKind($0).push?.lifetime ?? 0 }
    let parameters: [Parameter] = [
      .integer(first), .integer(last), .texts(kinds), .integers(lifetimes.map { Int64($0) }),
    ]
    try session.execute(statements["insert_deliveries"], parameters)
    try session.execute(statements["drop_expired_broadcasts"])
    try session.execute(
      statements["insert_broadcasts"], parameters + [.text(UserEvent.service), .integer(PushShards.count)])
  }

  /// The number of devices that what the service says to everybody reaches in one transaction.
  static let broadcastLimit = 1000

  /// Passes what the service says to everybody on to the next devices of a shard; false if nothing waits for that.
  static func continueBroadcast(shard: Int, _ session: Session) throws -> Bool {
    guard let row = try session.execute(statements["next_broadcast"], .integer(shard)).first else { return false }
    let key: [Parameter] = [.integer(shard), .integer(try row.get("position", as: Int64.self))]
    let devices: [Parameter] = [
      .integer(try row.get("after", as: Int64.self)), .integer(try row.get("last", as: Int64.self)),
      .integer(broadcastLimit),
    ]
    let page = try session.execute(statements["continue_broadcast"], key + devices).single()
    if let after = try page.get("after", as: Int64?.self) {
      try session.execute(statements["move_broadcast"], key + [.integer(after)])
    } else {
      try session.execute(statements["end_broadcast"], key)
    }
    return true
  }

  package static func enqueueDue(_ session: Session) throws -> Double? {
    try session.execute(statements["shards"], .integer(PushShards.count)).compactMap { row -> Double? in
      if try row.get("is_due") { try JobQueue.ensure(PushShards.job(of: row.get("shard")), session) }
      return try row.get("seconds")
    }.min()
  }

  /// Says something to all users, once for each name; false: it was said before.
  ///
  /// - Parameters:
  ///   - url: what the app opens.
  ///   - seconds: the time after which it is not sent.
  static func send(
    _ texts: MessageTexts, url: String?, named id: PublicID, for seconds: Int, _ session: Session
  ) throws -> Bool {
    try session.execute(statements["lock_message"], .text("\(id)"))
    guard try session.execute(statements["message"], .text(UserEvent.service), .text("\(id)")).isEmpty else {
      return false
    }
    var data = ["texts": try JSON.text(texts)]
    data["url"] = url
    data["expires_at"] = JSON.text(of: Date.now + Double(seconds))
    try Store.notify(UserEvent.service, of: .message, by: nil, subject: id, data: try JSON.encode(data), session)
    return true
  }

  // MARK: Providers

  /// Says which providers this worker has credentials of; events become notifications for those alone.
  static func announce(_ platforms: [RegisteredDevice.Platform], webPushKey: String?, _ session: Session) throws {
    for platform in platforms {
      try session.execute(
        statements["save_provider"], .text(platform.name), .text(platform.type.isOfBrowsers ? webPushKey : nil))
    }
  }

  /// What browsers subscribe with; nil: no worker has credentials for Web Push.
  static func webPushKey(_ session: Session) throws(PostgresError) -> String? {
    try session.execute(statements["web_push_key"]).first?.get("public_key")
  }
}

extension SetAside.Table {
  /// Devices are served without their quiet hours.
  static let device = Self("device")
  static let pushDelivery = Self("push_delivery")
}
