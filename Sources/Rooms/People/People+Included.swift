package import Kit
package import Model
package import Postgres
import Store

/// The JSON of an included user; unknown values are null.
private struct IncludedUser: NilEncodable, Sendable {
  let id: String
  let userName: String?
  let name: String?
  let fields: [String: FieldValue]
  /// The profile image by role; empty without one.
  var image: [Role: AssetResponse] = [:]
}

extension People: IncludedRoom {
  package static func included(
    _ ids: [String], for viewer: Viewer, _ urls: MediaURLs, _ session: Session
  ) throws -> [String: IncludedRecord] {
    var users: [String: IncludedUser] = [:]
    for row in try session.execute(statements["named_users"], .texts(ids)) {
      let id: String = try row.get("id")
      var user =
        try users[id]
        ?? IncludedUser(
          id: id, userName: row.get("user_name"), name: row.get("name"),
          fields: viewer == .stranger ? [:] : row.fields() ?? [:])
      if try row.get("role", as: String?.self) != nil {
        let asset = try Asset(row)
        // A profile image is public.
        if !asset.role.isSource { user.image[asset.role] = AssetResponse(asset, urls, isPublic: true) }
      }
      users[id] = user
    }
    return users.mapValues { IncludedRecord($0) }
  }
}

extension People: RelationRoom {
  package static func relations(
    of user: String, to targets: [String], receivedFrom users: [String], _ session: Session
  ) throws -> [String: Set<String>] {
    var kinds: [String: Set<String>] = [:]
    for row in try session.execute(statements["own_relations"], .text(user), .texts(targets), .texts(users)) {
      kinds[try row.get("target"), default: []].insert(try row.get("kind"))
    }
    return kinds
  }
}
