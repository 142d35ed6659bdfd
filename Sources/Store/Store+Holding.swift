package import FoundationEssentials
package import Postgres
import Queue

/// A hold on collecting: while it stands no blob is removed by anybody, so that a dump and a later copy of the blobs fit.
extension Store {
  /// Begins a hold, or prolongs the one that stands; until when it stands.
  ///
  /// It waits for those that collect at this moment. Whatever a snapshot of the database that is taken after the commit
  /// refers to stays until the hold ends.
  package func holdCollecting(for duration: Duration, _ session: Session) throws -> Date {
    try session.execute(Self.collecting["end_collecting"])
    let row = try session.execute(Self.collecting["keep_hold"], .double(duration / .seconds(1))).single()
    return Date(microseconds: try row.get("ends_at"))
  }

  /// Ends the hold; false if none stood.
  package func releaseCollecting(_ session: Session) throws(PostgresError) -> Bool {
    try session.execute(Self.collecting["drop_hold"]).first?.get("was_held") ?? false
  }

  /// Until when a hold stands; nil: there is none.
  package func collectingHold(_ session: Session) throws -> Date? {
    try session.execute(Self.collecting["hold"]).first.map { Date(microseconds: try $0.get("ends_at")) }
  }
}
