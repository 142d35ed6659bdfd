import Blobs
import Model
package import Postgres

/// The blobs of the store: their removal, and whether this process may write them.
extension Store {
  package var collecting: Collecting { Collecting(blobs: blobs, pause: releasedPause, minFree: minFree) }

  /// Throws unless the database is reachable and accepts writes, and blobs that this process writes.
  package func check(_ session: Session) throws {
    try session.execute(Self.statements["is_writable"])
    // Blobs that are not open yet have no id, and their own check says why.
    guard !blobs.ids.isEmpty else { return }
    let isWriter: Bool = try session.execute(Moving.statements["is_writer"], .texts(blobs.ids.map(\.description)))
      .single().get("is_writer")
    guard isWriter else { throw Self.movedAway }
  }

  /// The blobs are, or will be, in a store that this process does not write to.
  static let movedAway = BlobError.unavailable(
    "the blobs move to a store that this process does not write to: start it with --blobs-next, or after the move with --blobs"
  )
}
