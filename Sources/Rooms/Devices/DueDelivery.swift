internal import Crypto
import FoundationEssentials
internal import Kit
internal import Model
internal import Postgres
internal import Push
internal import Queue
import Store

/// A notification that is due for a device, with what it says now.
struct DueDelivery: Sendable {
  /// The number of them in a page.
  static let pageSize = 500

  let device: Int64
  let position: Int64
  let attempts: Int
  /// In seconds since 1970-01-01 UTC.
  let expires: Int
  /// The end of the quiet hours that the device has now, in the same.
  let quietEnd: Int?
  let platform: RegisteredDevice.Platform
  /// Where the token is valid, if the device says it.
  let environment: String?
  /// Whether a later one of the same page says this, too.
  let isFolded: Bool
  /// How many acts it stands for by itself, and with those of the page of which it says as much.
  let acts: Int64
  let count: Int64
  /// Whether the token that registered the device is valid.
  let isSignedIn: Bool
  /// Nil: the user may not see it any more, or the event is gone.
  let notification: Push.Notification?
  /// Nil: the address is none.
  let address: Push.Device?
  /// The server, of which a subscription has one of its own.
  let host: String?

  /// Nil: there is nothing to send.
  var delivery: Push.Delivery? {
    guard let notification, let address else { return nil }
    return Push.Delivery(notification, to: address)
  }

  /// What no badge counts: the kinds that no stream of the user has, and events that have lost what they said.
  private static let uncounted =
    UserEvent.Kind.allCases.filter { !EventKind($0).isStreamed }.map(\.rawValue) + [UserEvent.blank]

  private static let folded = Devices.pushed.filter { EventKind($0).push?.isFolded == true }.map(\.rawValue)

  /// Those which are sent already.
  typealias Sent = (devices: [Int64], positions: [Int64])

  /// - Parameters:
  ///   - now: by which the URLs of pictures expire, in the same.
  ///   - limit: smaller where a row stops the page.
  ///   - platforms: those that devices may have.
  static func page(
    shard: Int, except sent: Sent = ([], []), _ texts: PushTexts, now: Int, limit: Int = pageSize,
    platforms: [RegisteredDevice.Platform] = RegisteredDevice.Platform.allCases, _ session: Session
  ) throws -> [DueDelivery] {
    let signing = try Keys.signingKeys(session)
    let statement = Devices.statements["due_deliveries"].filled("\(limit)", ["limit": "\(limit)"])
    let pictures = Role.pictures(for: .notification).map(\.rawValue)
    return try session.execute(
      statement, .integer(shard), .texts(pictures), .texts(Self.uncounted), .integers(sent.devices),
      .integers(sent.positions), .texts(Self.folded)
    ).map { row in
      if let zone = try row.get("unknown_zone", as: String?.self) {
        try SetAside.note(
          .device, "\(row.get("device_id", as: Int64.self))", because: "unknown time zone '\(zone)'", session)
      }
      return try DueDelivery(row, texts, signing, now, platforms)
    }
  }

  /// Sets the first delivery of a page aside, which stops the others.
  static func setFirstAside(shard: Int, except sent: Sent, _ error: any Error, _ session: Session) throws {
    let rows = try session.execute(
      Devices.statements["set_aside_delivery"], .integer(shard), .integers(sent.devices), .integers(sent.positions),
      .integer(SetAside.seconds))
    guard let row = rows.first else { return }
    let (device, position): (Int64, Int64) = (try row.get("device_id"), try row.get("position"))
    try SetAside.note(.pushDelivery, "\(device)/\(position)", error, session)
  }

  private init(
    _ row: Row, _ texts: PushTexts, _ signing: [SigningKey], _ now: Int, _ platforms: [RegisteredDevice.Platform]
  ) throws {
    device = try row.get("device_id")
    position = try row.get("position")
    attempts = try row.get("attempts")
    expires = try row.get("expires_at")
    platform = try row.provider(among: platforms)
    environment = try row.get("environment")
    let style: Push.Notification.Style =
      try row.get("is_silent") ? .silent : platform.type.deliversData && row.get("is_data") ? .data : .alert
    // What is not shown disturbs no sleep.
    quietEnd = style == .silent ? nil : try row.get("quiet_end")
    isFolded = try row.get("is_folded")
    acts = try row.get("acts")
    count = try row.get("count")
    isSignedIn = try row.get("is_signed_in")
    let text: String = try row.get("address")
    address = Self.device(platform, at: text, try row.keys(), environment)
    host = platform.type.isOfBrowsers ? Origin.split(text)?.0.host : nil
    guard try row.get("is_shown"), let kind = try row.get("kind", as: String?.self).flatMap(UserEvent.Kind.init) else {
      notification = nil
      return
    }
    notification = try texts.notification(
      kind, row, style, id: "\(kind.rawValue)-\(position)", expiry: expires,
      mediaURL: Self.picture(row, texts, signing, now))
  }

  private static func device(
    _ platform: RegisteredDevice.Platform, at address: String, _ keys: Device.Keys?, _ environment: String?
  ) -> Push.Device? {
    do { return try platform.type.device(at: address, keys: keys, environment: environment) } catch { return nil }
  }

  /// The URL of the picture; nil: there is none, or no URL that the device could open.
  private static func picture(_ row: Row, _ texts: PushTexts, _ signing: [SigningKey], _ now: Int) throws -> String? {
    guard let origin = texts.publicURL, let id = try row.get("picture", as: String?.self).flatMap({ PublicID($0) })
    else { return nil }
    if try row.get("is_public") { return origin + MediaURLs.path(ofAsset: id) }
    guard let reader = try reader(row), !signing.isEmpty else { return nil }
    return origin + MediaURLs(keys: signing, reader: reader, now: now).url(ofAsset: id)
  }

  /// What registered the device, for which its URLs are signed.
  private static func reader(_ row: Row) throws -> MediaURLs.Reader? {
    func hash(_ column: String) throws -> String? {
      try row.get(column, as: [UInt8]?.self).flatMap { SHA256Digest(bytes: $0)?.hex }
    }
    if try row.get("credential", as: String?.self) != nil { return .tokens(of: try row.get("user_id")) }
    guard let key = try row.get("api_key_id", as: Int64?.self), try row.get("has_key"), let hash = try hash("key_hash")
    else { return nil }
    return .key(key, hash: hash, user: try row.get("user_id"))
  }
}
