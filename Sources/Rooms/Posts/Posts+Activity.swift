import FoundationEssentials
import Model
import Postgres
import Store

/// Where the posts of a list are, as `Places.activity` says it of all public posts.
extension Posts {
  /// Counts the posts that match a filter and that the viewer sees by the cells of a map, those with most of them first. The times are those
  /// of the map.
  static func activity(
    of filter: PostFilter, on map: ActivityMap, for viewer: Viewer, _ session: Session
  ) throws -> [ActivityCell] {
    var filter = filter
    (filter.from, filter.to) = (map.from?.microseconds, map.to?.microseconds)
    return try session.snapshot { session in
      var sums: [Int64: (posts: Int, longitudes: Double, latitudes: Double)] = [:]
      for piece in pieces(of: filter) {
        let query = PostListQuery(
          filter, viewer, piece, PageRequest(), isCrowded: try !readsAll(of: piece, filter, session), level: map.level)
        for row in try session.execute(query.statement, query.parameters) {
          let posts: Int = try row.get("posts")
          let (longitude, latitude): (Double, Double) = (try row.get("longitude"), try row.get("latitude"))
          let sum = sums[try row.get("cell"), default: (0, 0, 0)]
          sums[try row.get("cell")] = (
            sum.posts + posts, sum.longitudes + longitude * Double(posts), sum.latitudes + latitude * Double(posts)
          )
        }
      }
      return sums.compactMap { cell, sum -> ActivityCell? in
        let (longitude, latitude) = (sum.longitudes / Double(sum.posts), sum.latitudes / Double(sum.posts))
        return Coordinate(latitude: latitude, longitude: longitude).map {
          ActivityCell(cell: cell, posts: sum.posts, center: $0)
        }
      }.sorted { ($1.posts, $0.cell) < ($0.posts, $1.cell) }
    }
  }

  /// Whether all posts of a piece are read, and not those that another condition finds by its index, or all posts there are.
  private static func readsAll(of piece: MapArea.Piece?, _ filter: PostFilter, _ session: Session) throws -> Bool {
    guard let piece else { return false }
    guard try isCrowded(piece, session) else { return true }
    let isOfFew = !filter.authors.isEmpty || filter.feed != nil || filter.place != nil
    return !isOfFew && piece.cells(limit: PostListQuery.maxCells) != nil
  }
}
