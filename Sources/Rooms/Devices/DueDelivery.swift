internal import Crypto
import FoundationEssentials
internal import Model
internal import Postgres
package import Push
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
  /// Whether the token that registered the device is valid.
  let isSignedIn: Bool
  /// Nil: the user may not see it any more, or the event is gone.
  let notification: Push.Notification?
  /// Nil: the address is none.
  let address: Push.Device?

  /// The roles of the picture, the best first.
  private static let pictures: [Role] = [.thumbnail, .photoMedium, .poster, .image, .photoSquare, .photoSmall]
  /// What no badge counts: the kinds that no stream of the user has, and events that have lost what they said.
  private static let uncounted =
    UserEvent.Kind.allCases.filter { !EventKind($0).isStreamed }.map(\.rawValue) + [UserEvent.blank]

  /// - Parameters:
  ///   - now: by which the URLs of pictures expire, in the same.
  ///   - limit: smaller where a row stops the page.
  static func page(
    shard: Int, _ texts: PushTexts, now: Int, limit: Int = pageSize, _ session: Session
  ) throws -> [DueDelivery] {
    let signing = try Keys.signingKeys(session)
    let statement = Devices.statements["due_deliveries"].filled("\(limit)", ["limit": "\(limit)"])
    let pictures = Self.pictures.map(\.rawValue)
    return try session.execute(statement, .integer(shard), .texts(pictures), .texts(Self.uncounted)).map { row in
      if let zone = try row.get("unknown_zone", as: String?.self) {
        try SetAside.note(
          .device, "\(row.get("device_id", as: Int64.self))", because: "unknown time zone '\(zone)'", session)
      }
      return try DueDelivery(row, texts, signing, now)
    }
  }

  /// Sets the first delivery of a page aside, which stops the others.
  static func setFirstAside(shard: Int, _ error: any Error, _ session: Session) throws {
    let rows = try session.execute(
      Devices.statements["set_aside_delivery"], .integer(shard), .integer(SetAside.seconds))
    guard let row = rows.first else { return }
    let (device, position): (Int64, Int64) = (try row.get("device_id"), try row.get("position"))
    try SetAside.note(.pushDelivery, "\(device)/\(position)", error, session)
  }

  private init(_ row: Row, _ texts: PushTexts, _ signing: [SigningKey], _ now: Int) throws {
    device = try row.get("device_id")
    position = try row.get("position")
    attempts = try row.get("attempts")
    expires = try row.get("expires_at")
    quietEnd = try row.get("quiet_end")
    platform = try row.enumValue("provider")
    isSignedIn = try row.get("is_signed_in")
    let text: String = try row.get("address")
    switch platform {
    case .apns: address = .apns(text)
    case .fcm: address = .fcm(text)
    case .webPush: address = Self.subscription(text, p256dh: try row.get("p256dh"), auth: try row.get("auth"))
    }
    guard try row.get("is_shown"), let kind = try row.get("kind", as: String?.self).flatMap(UserEvent.Kind.init) else {
      notification = nil
      return
    }
    notification = try texts.notification(
      kind, row, id: "\(kind.rawValue)-\(position)", expiry: expires, mediaURL: Self.picture(row, texts, signing, now))
  }

  private static func subscription(_ endpoint: String, p256dh: String, auth: String) -> Push.Device? {
    do { return .webPush(try Device.Subscription(endpoint: endpoint, p256dh: p256dh, auth: auth)) } catch { return nil }
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
    return MediaURLs.Reader(name: "\(key)", keyHash: hash, user: try row.get("user_id"))
  }
}

/// What makes notifications of events: the texts, and where devices reach this service.
package struct PushTexts: Sendable {
  private let templates: Templates
  /// Without a slash at its end; nil: notifications have no picture.
  let publicURL: String?

  /// - Throws: `invalidTemplates`.
  package init(json: [UInt8], publicURL: String?) throws(PushError) {
    let kinds = Devices.pushed.map { ($0.rawValue, Self.places(of: $0)) }
    templates = try Templates(json: json, places: Dictionary(kinds) { first, _ in first })
    self.publicURL = publicURL
  }

  /// The places that the texts of a kind may name.
  private static func places(of kind: UserEvent.Kind) -> Set<String> {
    switch kind {
    case .windowOpened: ["minutes"]
    case .postReady: []
    case .postRejected: ["reason"]
    case .comment, .threadComment: ["name", "text"]
    case .collectionShared: ["name", "collection"]
    case .collectionComment: ["name", "text", "collection"]
    default: ["name"]
    }
  }

  fileprivate func notification(
    _ kind: UserEvent.Kind, _ row: Row, id: String, expiry: Int, mediaURL: String?
  ) throws -> Push.Notification? {
    guard let push = EventKind(kind).push else { return nil }
    var values: [String: String] = [:]
    for place in ["name", "text", "collection", "reason"] {
      values[place] = try row.get(place, as: String?.self).map(DirectionMarks.isolated)
    }
    values["minutes"] = "\(max(1, Int((min(try row.get("seconds", as: Double.self), 1e9) / 60).rounded())))"
    guard let text = templates.text(kind.rawValue, locale: try row.get("locale"), values) else { return nil }
    var data: [String: String] = [:]
    for (name, column) in [
      ("user", "actor"), ("post", "post"), ("comment", "comment_id"), ("image", "image_id"),
      ("collection", "collection_id"),
    ] { data[name] = try row.get(column, as: String?.self) }
    return Push.Notification(
      kind: kind.rawValue, title: text.title, body: text.body, badge: try row.get("badge"), mediaURL: mediaURL,
      data: data, collapseID: id, expiry: expiry, priority: push.isUrgent ? .high : .normal)
  }
}
