import CRoomsSQL
import FoundationEssentials
internal import Kit
import Model
package import Postgres
package import Queue
import Store

/// What operators read of the store as a whole, and the API keys that they have revoked long ago.
package enum Operations: Room {
  package static let statements = Statements(topic: "operations", RoomsSQL.Operations)

  /// Once a day: tables that name keys are read, as long as one is to be dropped.
  package static var maintenance: [MaintenanceTask] {
    [
      MaintenanceTask("keys", every: .seconds(86_400)) { pool in
        _ = try await pool.run { try Keys.dropRevoked(in: .all, $0) }
      }
    ]
  }

  /// Counts the posts of the last day that were rejected, by the codes of their reasons, the most frequent first.
  static func rejections(_ session: Session) throws -> [RejectionCount] {
    try session.execute(statements["rejections"]).map {
      RejectionCount(code: try $0.get("code"), posts: try $0.get("posts"))
    }
  }

  /// The server's time, up to which a request may select what exists.
  static func time(_ session: Session) throws -> Date {
    Date(microseconds: try session.execute(statements["time"]).single().get("time"))
  }

  /// Sums up all assets and blobs, which reads all rows of their tables.
  static func usage(_ session: Session) throws -> StoreUsage {
    var usage = StoreUsage()
    for row in try session.execute(statements["asset_usage"]) {
      try usage.add(
        StoreUsage.Sum(assets: try row.get("assets"), bytes: try row.get("bytes")), role: row.get("role"),
        age: row.enumValue("age"), isRetired: row.get("is_retired"), isRejected: row.get("is_rejected"))
    }
    for row in try session.execute(statements["blob_usage"]) {
      try usage.blobs.add(
        count: row.get("blobs"), bytes: row.get("bytes"), age: row.enumValue("age"),
        firstAt: Date(microseconds: row.get("first_at")))
    }
    usage.damaged = try session.execute(statements["damaged_blobs"]).map { row in
      StoreUsage.Damaged(
        hash: try row.get("hash"), kind: try row.get("kind"), foundAt: Date(microseconds: try row.get("found_at")),
        attempts: try row.get("attempts"), error: try row.get("error"))
    }
    return usage
  }
}

/// The number of rejected posts with a reason.
struct RejectionCount: Encodable, Sendable, Hashable {
  let code: String
  let posts: Int
}
