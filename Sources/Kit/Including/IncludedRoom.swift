package import Model
package import Postgres
package import Store

/// A room whose records a response includes, beside the records that name them.
package protocol IncludedRoom: RecordRoom {
  /// Reads the records with these ids that the viewer sees, by their ids; users who have blocked the viewer are not among the ids. It runs
  /// one statement for a page, however many records it has.
  static func included(
    _ ids: [String], for viewer: Viewer, _ urls: MediaURLs, _ session: Session
  ) throws -> [String: IncludedRecord]
}

/// The room with the relations of users to records.
package protocol RelationRoom: Room {
  /// Reads the kinds of the relations that a user has to any of these records, by their ids, and `received` for each of the given users
  /// who has asked for the friendship of the user.
  static func relations(
    of user: String, to targets: [String], receivedFrom users: [String], _ session: Session
  ) throws -> [String: Set<String>]
}

/// The JSON of a record of a room, as the room itself returns it; unknown values are null.
package struct IncludedRecord: NilEncodable, Sendable {
  private let record: any NilEncodable & Sendable

  package init(_ record: any NilEncodable & Sendable) { self.record = record }

  package func encode(to encoder: any Encoder) throws { try record.encode(to: encoder) }
}
