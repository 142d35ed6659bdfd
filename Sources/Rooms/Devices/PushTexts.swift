internal import Model
internal import Postgres
package import Push
import Store

/// What makes notifications of events: the texts, and where devices reach this service.
package struct PushTexts: Sendable {
  private let templates: Templates
  /// Without a slash at its end; nil: notifications have no picture.
  let publicURL: String?

  /// - Throws: `invalidTemplates`.
  package init(json: [UInt8], publicURL: String?) throws(PushError) {
    // The operator writes the texts of a message.
    let shapes = Devices.pushed.filter { $0 != .message }.map { ($0.rawValue, Self.shape(of: $0)) }
    templates = try Templates(json: json, shapes: Dictionary(shapes) { first, _ in first })
    self.publicURL = publicURL
  }

  private static let ofPost: Set<String> = ["title", "kind", "place"]
  /// Of several acts: their number, and that of the others.
  private static let several = "several"
  private static let ofSeveral: Set<String> = ["count", "others"]
  private static let visibilities = Set(Visibility.allCases.map(\.rawValue))

  /// The places that the texts of a kind may name, and its cases.
  private static func shape(of kind: UserEvent.Kind) -> Templates.Shape {
    switch kind {
    case .windowOpened: Templates.Shape(places: ["minutes"])
    case .postReady: Templates.Shape(places: ofPost, cases: visibilities)
    case .postRejected:
      Templates.Shape(places: ofPost.union(["reason"]), cases: Set(ReasonCode.allCases.map(\.rawValue)))
    case .friendPosted: Templates.Shape(places: ofPost.union(["name"]), cases: ["titled"])
    case .comment, .threadComment:
      Templates.Shape(places: ofPost.union(ofSeveral).union(["name", "text"]), cases: [several])
    case .reaction, .like: Templates.Shape(places: ofPost.union(ofSeveral).union(["name"]), cases: [several])
    case .collectionShared: Templates.Shape(places: ["name", "collection"])
    case .collectionComment:
      Templates.Shape(places: ofSeveral.union(["name", "text", "collection"]), cases: [several])
    default: Templates.Shape(places: ["name"])
    }
  }

  /// - Parameters:
  ///   - row: of `due_deliveries`.
  ///   - id: replaces the notification with the same one.
  func notification(
    _ kind: UserEvent.Kind, _ row: Row, _ style: Push.Notification.Style, id: String, expiry: Int, mediaURL: String?
  ) throws -> Push.Notification? {
    guard let push = EventKind(kind).push, let text = try text(of: kind, row) else { return nil }
    var data: [String: String] = [:]
    for (name, column) in [
      ("user", "actor"), ("post", "post"), ("comment", "comment_id"), ("image", "image_id"),
      ("collection", "collection_id"), ("closes_at", "closes_at"), ("url", "url"),
    ] { data[name] = try row.get(column, as: String?.self) }
    return Push.Notification(
      kind: kind.rawValue, style: style, title: text.title, body: text.body, badge: try row.get("badge"),
      mediaURL: mediaURL, data: data, collapseID: id, thread: data["collection"] ?? data["post"] ?? kind.rawValue,
      isTimeSensitive: push.isTimeSensitive, expiry: expiry, priority: push.isUrgent ? .high : .normal)
  }

  private func text(of kind: UserEvent.Kind, _ row: Row) throws -> (title: String, body: String)? {
    let locale: String? = try row.get("locale")
    if kind == .message { return MessageTexts(stored: try row.get("texts"))?.text(locale: locale) }
    var values: [String: String] = [:]
    for (place, column) in [
      ("name", "name"), ("text", "text"), ("collection", "collection"), ("reason", "reason"), ("title", "title"),
      ("place", "place"),
    ] { values[place] = try row.get(column, as: String?.self).map(DirectionMarks.isolated) }
    values["kind"] = try row.get("post_kind")
    values["minutes"] = "\(max(1, Int((min(try row.get("seconds", as: Double.self), 1e9) / 60).rounded())))"
    let count: Int = try row.get("count")
    (values["count"], values["others"]) = ("\(count)", "\(max(0, count - 1))")
    var cases: [String] = count > 1 ? [Self.several] : []
    if values["title"]?.isEmpty == false { cases.append("titled") }
    if let code: String = try row.get("reason_code") { cases.append(code) }
    if let visibility: String = try row.get("visibility") { cases.append(visibility) }
    return templates.text(kind.rawValue, cases: cases, locale: locale, values)
  }
}
