import Model
import Postgres
import Store

/// The statement of a list of posts, for one piece of the area of its filter.
struct PostListQuery {
  private(set) var parameters: [Parameter]
  private var conditions: [String] = []
  private let filter: PostFilter
  /// The map cells of the area, each of which has its latest posts in an index; nil: the posts of all cells are filtered.
  private let cells: [Int]?
  /// The number of the parameter with the piece, all of whose posts are read and then sorted; nil: posts are read in their order.
  private var sorted: Int?

  /// The number of map cells of an area of five by five degrees. For a larger area the newest of all posts are filtered
  /// instead, because many of them lie in it.
  static let maxCells = 400

  /// The number of posts in an area up to which all of them are read and sorted. Where more are, a page is soon found among the latest.
  static let maxSorted = 2000

  /// The beginning of the year 1 and the end of the year 9999, in microseconds since 1970-01-01 UTC.
  private static let times: (first: Int64, last: Int64) = (-62_135_596_800_000_000, 253_402_300_799_000_000)

  /// - Parameters:
  ///   - nearest: of a list by distance, what is read for the piece.
  ///   - isCrowded: whether the posts of the piece are read in their order, because it has more than are sorted.
  ///   - cells: the map cells whose posts are read in their order; nil: the posts of all cells are filtered.
  init(
    _ filter: PostFilter, _ viewer: Viewer, _ piece: MapArea.Piece?, _ page: PageRequest,
    _ nearest: NearestFirst? = nil, isCrowded: Bool = false, cells: [Int]? = nil
  ) {
    self.filter = filter
    self.cells = cells
    let isSorted = nearest == nil && piece != nil && !isCrowded
    // By the time of submission, `to` is the end of the first page.
    let isByChange = filter.updatedSince != nil
    var end = PageCursor(time: isByChange ? Self.times.last : filter.to ?? Self.times.last, id: 0)
    var first = PageCursor(time: -1, id: 0)
    if let after = page.after {
      if filter.order == .distance { first = after } else if (after.time, after.id) < (end.time, end.id) { end = after }
    }
    // Those of the statement itself.
    parameters = [
      .timestamp(microseconds: end.time), .integer(filter.order == .distance ? first.id : end.id),
      .timestamp(microseconds: filter.from ?? Self.times.first), .texts(filter.statuses.map(\.rawValue).sorted()),
      Posts.parameter(filter.visibilities), .integer(page.limit + 1), viewer.parameter,
    ]
    if let near = filter.near {
      // The parameters 8 to 10.
      parameters += [
        .double(near.center.latitude), .double(near.center.longitude), .integer(near.meters * 1000),
      ]
    }
    if let nearest {
      // The parameters 11 to 13.
      parameters += [.integer(first.time), .double(nearest.longitude), .integer(nearest.count)]
      if let area = filter.area {
        let within = area.condition(from: parameters.count + 1)
        parameters += within.parameters
        conditions.append(within.text)
      }
    }
    if let since = filter.updatedSince {
      require("updated_at >= $::timestamptz", .timestamp(microseconds: since))
      if let to = filter.to { require("created_at < $::timestamptz", .timestamp(microseconds: to)) }
    }
    addConditions(isSorted: isSorted)
    if let piece {
      if isSorted {
        parameters.append(.text(Self.polygon(piece.ring)))
        sorted = parameters.count
      } else if nearest == nil {
        // The planner takes every polygon for a small one, and would read all that lies in it; of CASE it expects half of the rows.
        require("CASE WHEN position <@ $::polygon THEN true ELSE false END", .text(Self.polygon(piece.ring)))
      } else {
        require("position <@ $::polygon", .text(Self.polygon(piece.ring)))
      }
      if !piece.holes.isEmpty {
        require("NOT position <@ ANY ($::polygon[])", .texts(piece.holes.map(Self.polygon)))
      }
    }
    if let keys { parameters.append(keys.parameter) }
  }

  /// The map cells of a crowded piece, as they are read one after the other: first the one in its middle, whose posts say how new those
  /// of the others must be. Of a cell at the edge, few posts may lie in the piece.
  static func steps(_ piece: MapArea.Piece) -> [[Int]?] {
    guard let cells = piece.cells(limit: maxCells), let bounds = piece.bounds else { return [nil] }
    let middle = MapCell.number(
      longitude: (bounds.west + bounds.east) / 2, latitude: (bounds.south + bounds.north) / 2)
    let others = cells.filter { $0 != middle }
    return others.isEmpty || others.count == cells.count ? [cells] : [[middle], others]
  }

  /// The statement, whose parameters are `parameters`.
  var statement: Statement {
    let conditions = conditions.isEmpty ? "true" : conditions.joined(separator: " AND ")
    if filter.order == .distance {
      return Posts.statements["posts_by_distance"].filled(
        conditions, ["conditions": conditions, "distance": Self.distance])
    }
    func list(_ suffix: String, from source: String = "post", limit: String = "$6::int") -> Statement {
      Posts.statements["posts"].filled(
        suffix, ["source": source, "conditions": conditions, "time": time, "limit": limit])
    }
    if let sorted {
      // OFFSET keeps the planner from another index, whose rows it would compare with those of the piece.
      let within = "(SELECT * FROM post WHERE position <@ $\(sorted)::polygon OFFSET 0) AS post"
      return list("within.\(sorted).\(conditions)", from: within)
    }
    guard let keys else { return list(conditions) }
    var rows = keys.rows.replacing("$", with: "$\(parameters.count)")
    if filter.feed != nil {
      let latest = list("latest", limit: "1").text
      let newest = Posts.statements["newest_keys"].filled("feed", ["keys": rows, "latest": latest, "time": time])
      rows = "(\(newest.text))"
    }
    return Posts.statements["posts_by_key"].filled(
      "\(keys.name).\(conditions)", ["keys": rows, "list": list("key").text, "time": time])
  }

  /// The column whose latest come first.
  private var time: String { filter.updatedSince == nil ? "created_at" : "updated_at" }

  /// The keys whose posts are each a separate range of an index, and the column of the key; nil if there is one range.
  private var keys: (name: String, column: String, rows: String, parameter: Parameter)? {
    if filter.order == .distance || sorted != nil { return nil }
    if let user = filter.feed {
      let rows = "(SELECT $::text UNION ALL SELECT target FROM relation WHERE user_id = $ AND kind = 'friend')"
      return ("of_feed", "author", rows, .text(user))
    }
    if let cells { return ("by_key", "map_cell", "unnest($::int[])", .integers(cells.map(Int64.init))) }
    guard filter.authors.count > 1 else { return nil }
    return ("by_key", "author", "unnest($::text[])", .texts(filter.authors))
  }

  private mutating func addConditions(isSorted: Bool) {
    let keys = isSorted ? nil : self.keys
    let authors = filter.authors
    if let keys { conditions.append("\(keys.column) = keys.key") }
    if authors.count == 1 { require("author = $", .text(authors[0])) }
    if authors.count > 1, keys?.column != "author" { require("author = ANY ($::text[])", .texts(authors)) }
    if let cells, keys?.column != "map_cell" { require("map_cell = ANY ($::int[])", .integers(cells.map(Int64.init))) }
    if !filter.ids.isEmpty { require("public_id = ANY ($::uuid[])", .texts(filter.ids.map(\.description))) }
    if let place = filter.place { require("place_id = $", .text(place)) }
    if let kind = filter.kind { require("kind = $", .text(kind.rawValue)) }
    if filter.near != nil, filter.order == .newest { conditions.append("\(Self.distance) <= $10::bigint") }
  }

  private mutating func require(_ condition: String, _ parameter: Parameter) {
    parameters.append(parameter)
    conditions.append(condition.replacing("$", with: "$\(parameters.count)"))
  }

  /// The distance from the point whose latitude and longitude are the parameters 8 and 9.
  private static let distance = distance(latitude: "$8::float8", longitude: "$9::float8")

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
