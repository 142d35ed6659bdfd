package import Model
package import Postgres
import Store

/// A room whose records a response includes, beside the records that name them.
package protocol IncludedRoom: RecordRoom {
  /// Reads the records with these ids that the viewer sees, by their ids.
  static func included(
    _ ids: [String], for viewer: Viewer, _ urls: MediaURLs, _ session: Session
  ) throws -> [String: IncludedRecord]
}

/// The JSON of a record of a room, as the room itself returns it; unknown values are null.
package struct IncludedRecord: NilEncodable, Sendable {
  private let record: any NilEncodable & Sendable

  package init(_ record: any NilEncodable & Sendable) { self.record = record }

  package func encode(to encoder: any Encoder) throws { try record.encode(to: encoder) }
}
