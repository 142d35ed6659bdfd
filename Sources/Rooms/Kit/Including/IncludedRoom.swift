internal import Model
internal import Postgres
import Store

/// A room whose records a response includes, beside the records that name them.
protocol IncludedRoom: RecordRoom {
  /// Reads the records with these ids that the viewer sees, by their ids.
  static func included(
    _ ids: [String], for viewer: Viewer, _ urls: MediaURLs, _ session: Session
  ) throws -> [String: IncludedRecord]
}

/// The JSON of a record of a room, as the room itself returns it; unknown values are null.
struct IncludedRecord: NilEncodable, Sendable {
  let record: any NilEncodable & Sendable

  func encode(to encoder: any Encoder) throws { try record.encode(to: encoder) }
}
