internal import HTTPServer
internal import Kit
package import Model
internal import Postgres
internal import Store

/// The kinds of records of all rooms, by which one room asks about the records of another one.
extension RecordKind {
  static let all = [any Room.Type].all.compactMap { ($0 as? any RecordRoom.Type)?.record }
}

extension RecordID.Kind {
  package static let all = RecordKind.all.map(\.kind)

  var record: RecordKind {
    guard let record = RecordKind.all.first(where: { $0.kind == self }) else {
      preconditionFailure("no room has records of the kind \(name)")
    }
    return record
  }

  /// Whether the viewer sees a record of this kind with an id.
  func exists(_ id: String, for viewer: Viewer, _ session: Session) throws -> Bool {
    try record.exists?(id, viewer, session) == true
  }

  /// Returns what the viewer is to a record of this kind; nil if there is none with this id, and a role of nil if the viewer does not see it.
  func role(_ id: String, for viewer: Viewer, _ session: Session) throws -> StoredCollection.Role?? {
    guard let role = record.role else { return nil }
    return try role(id, viewer, session)
  }
}

extension RecordID {
  /// Locks the record, or what a comment is on, until the transaction ends; nil if the viewer does not see it.
  func lock(for viewer: Viewer, _ session: Session) throws -> RecordKind.Locked? {
    try kind.record.lock(self, viewer, session)
  }

  /// The path of a record, other than a comment.
  var path: String { "/v1/\(kind.record.path)/\(MediaURLs.percentEncoded(id))" }
}

extension KitHolder {
  /// The problem of a record that does not exist, or that the client does not see.
  static func notFound(_ kind: RecordID.Kind, _ id: some CustomStringConvertible) -> Problem {
    kind.record.problem.problem(kind.record.missing("\(id)"))
  }

  static func notFound(_ record: RecordID) -> Problem { notFound(record.kind, record.id) }

  /// Returns the id of a record from the path; throws the problem of its kind if it is malformed.
  func id(_ kind: RecordID.Kind, _ request: Request, _ parameter: String = "id") throws(Problem) -> PublicID {
    let text = request.parameter(parameter)
    guard let id = PublicID(text) else { throw Self.notFound(kind, text) }
    return id
  }
}
