import Glibc
import HTTPServer
internal import Kit
import Model
import Postgres
import Store

/// The error for a list by distance with more rows at nearly the same distance than are read for a page.
package struct TooManyNearby: Error, Sendable, Hashable {}

extension TooManyNearby: RequestRefusal {
  var problem: Problem {
    ProblemKind.queryTooSlow.problem("Too much lies at nearly the same distance from the point.")
  }
}

/// A list by the distance on a great circle, from an index that has the order of distances in degrees.
///
/// Rows are read in the order of the index. What is further than the last of them, in degrees, is also at some distance on the
/// great circle: rows that are nearer than that are the first ones of the list.
struct NearestFirst {
  /// The number of rows above which no more are read for one page.
  private static let maxRows = 10_000

  /// The point that distances are measured from, as it lies to the piece: its longitude may be outside of -180 to 180.
  let longitude: Double
  let latitude: Double
  /// The number of rows that are read.
  private(set) var count: Int
  private let limit: Int
  /// The shortest distance on a great circle, in millimeters, for a degree.
  private let millimetersPerDegree: Double

  /// - Parameters:
  ///   - piece: a piece of the area around the point.
  ///   - limit: the number of rows of a page.
  init(_ near: Nearness, _ piece: MapArea.Piece, limit: Int) {
    let longitudes = piece.ring.map(\.longitude)
    let (west, east) = (longitudes.min() ?? -180, longitudes.max() ?? 180)
    longitude = (west + east) / 2
    latitude = near.center.latitude
    self.limit = limit
    // By the haversine formula the distance is the shortest where a parallel is: at the latitude that is nearest to a pole, and
    // along the longest chord.
    let reach = (east - west) / 2 * .pi / 180
    let highest = piece.ring.map { abs($0.latitude) }.max() ?? 90
    let shortening = max(0, cos(highest * .pi / 180)) * (reach > 0 ? sin(reach / 2) / (reach / 2) : 1)
    millimetersPerDegree = shortening * Nearness.earthRadius * 1000 * .pi / 180
    count = min(Self.maxRows, 20 + Int(1.3 * Double(limit + 1) / max(0.05, shortening)))
  }

  /// Reads the first `limit` + 1 rows; each has its `distance`, and how many rows were read (`found`) up to which distance in
  /// degrees (`reach`).
  mutating func rows(_ read: (NearestFirst) throws -> [Row]) throws -> [Row] {
    while true {
      let rows = try read(self)
      guard let first = rows.first, try first.get("found", as: Int.self) == count else { return rows }
      // A millimeter less, for what is rounded.
      let sure = try first.get("reach", as: Double.self) * millimetersPerDegree - 1
      if try rows.prefix(limit).allSatisfy({ try Double($0.get("distance", as: Int64.self)) < sure }) { return rows }
      guard count < Self.maxRows else { throw TooManyNearby() }
      count = min(Self.maxRows, count * 4)
    }
  }
}
