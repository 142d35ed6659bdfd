import FoundationEssentials
package import Model
package import Postgres
import Queue
import Store

/// Where public posts are. Triggers keep the sums.
extension Places {
  /// Reads the cells of a map that have public posts, those with most of them first.
  package static func activity(_ map: ActivityMap, _ session: Session) throws -> [ActivityCell] {
    let rows = try session.execute(
      Self.statements["activity"], .text(map.period.rawValue), .integer(map.level), .integers(map.cells),
      .timestamp(microseconds: map.from.map(\.microseconds) ?? -62_135_596_800_000_000),
      .timestamp(microseconds: map.to.map(\.microseconds) ?? 253_402_300_799_000_000))
    return try rows.compactMap { row in
      guard
        let center = Coordinate(
          latitude: try row.get("latitude"), longitude: try row.get("longitude"))
      else { return nil }
      return ActivityCell(cell: try row.get("cell"), posts: try row.get("posts"), center: center)
    }
  }

  /// Deletes up to 1000 sums of hours that no map asks for any more; returns their number.
  package static func dropOldActivity(_ session: Session) throws(PostgresError) -> Int {
    // A day more: maps of hours begin with a whole one.
    try session.execute(Self.statements["drop_old_activity"], .double(ActivityMap.maxAgeOfHours + 86_400)).affected
  }
}
