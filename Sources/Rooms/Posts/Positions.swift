import Model
import Postgres

/// Positions and areas in SQL.
extension PostListQuery {
  /// The distance of the column `position` from a point, in millimeters (haversine formula; Sinnott, 1984).
  static func distance(latitude: String, longitude: String) -> String {
    """
    (\(2000 * Nearness.earthRadius) * asin(least(1, sqrt(
      power(sin(radians(position[1] - \(latitude)) / 2), 2) + cos(radians(\(latitude))) * cos(radians(position[1]))
        * power(sin(radians(position[0] - \(longitude)) / 2), 2)))))::bigint
    """
  }

  /// Formats a polygon for PostgreSQL: the longitude is x.
  static func polygon(_ corners: [MapArea.Corner]) -> String {
    "(" + corners.map { "(\($0.longitude),\($0.latitude))" }.joined(separator: ",") + ")"
  }
}

extension MapArea {
  /// The condition that a position lies in the area, and its parameters, whose numbers begin with `number`.
  func condition(from number: Int) -> (text: String, parameters: [Parameter]) {
    var parameters: [Parameter] = []
    let conditions = pieces.map { piece in
      parameters += [.text(PostListQuery.polygon(piece.ring)), .texts(piece.holes.map(PostListQuery.polygon))]
      let last = number + parameters.count - 1
      return "position <@ $\(last - 1)::polygon AND NOT position <@ ANY ($\(last)::polygon[])"
    }
    // The planner takes every polygon for a small one; of CASE it expects half of the rows.
    return ("CASE WHEN \(conditions.joined(separator: " OR ")) THEN true ELSE false END", parameters)
  }

  /// Whether it has more map cells than are listed by an index.
  var isWide: Bool {
    let counts = pieces.map { $0.cells(limit: PostListQuery.maxCells)?.count }
    return counts.contains(nil) || counts.compactMap(\.self).reduce(0, +) > PostListQuery.maxCells
  }
}
