import FoundationEssentials
package import Model
package import Postgres
import Queue
import Store

/// The order that a user gives the relations of a kind.
extension Relations {
  /// Puts a user's relations of a kind in an order; those that are not named come before them, the newest first.
  ///
  /// - Returns: the numbers of the targets that the user has no such relation to; if there are some, nothing changes.
  /// - Throws: `ForgottenRefusal`, `SuspendedRefusal`.
  package static func arrange(
    _ kind: RelationKind, of user: String, as targets: [String], _ session: Session
  ) throws -> [Int] {
    try Store.requireUsers(user, in: session)
    try session.execute(People.statements["lock_users"], .texts([user]))
    let found = try session.execute(
      People.statements["lock_relations"], .text(kind.name), .text(user), .texts(targets))
    let known = Set(try found.map { Array(try $0.get("target", as: String.self).utf8) })
    let missing = targets.indices.filter { !known.contains(Array(targets[$0].utf8)) }
    guard missing.isEmpty else { return missing }
    try session.execute(People.statements["arrange_relations"], .text(kind.name), .text(user), .texts(targets))
    return []
  }

  /// Reads a page of a user's relations of a kind in the user's order.
  package static func arranged(
    _ kind: RelationKind, of user: String, for viewer: Viewer, _ page: PageRequest, _ session: Session
  ) throws -> Page<Relation> {
    let rows = try session.execute(
      People.statements["relations_in_order"].filled(kind.name, ["kind": "'\(kind.name)'"]), .text(user),
      .integer(page.after?.time ?? .max), .integer(page.after?.id ?? .max), .integer(page.limit + 1), viewer.parameter)
    return try Page(rows, page, by: { PageCursor(time: try $0.get("key"), id: try $0.get("id")) }) {
      try $0.map { try relation($0, kind, of: nil) }
    }
  }
}
