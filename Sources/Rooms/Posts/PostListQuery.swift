internal import Kit
import Model
import Postgres
import Store

/// The statement of a list of posts, for one piece of the area of its filter.
struct PostListQuery {
  private(set) var parameters: [Parameter]
  private(set) var conditions: [String] = []
  let filter: PostFilter
  /// The map cells of the area, each of which has its latest posts in an index; nil: the posts of all cells are filtered.
  let cells: [Int]?
  /// The number of the parameter with the piece, all of whose posts are read and then sorted; nil: posts are read in their order.
  private(set) var sorted: Int?
  /// Whether the list reads the posts of each place of its category.
  let isByPlace: Bool
  /// The authors whose posts a list by distance sorts, as rows; nil: it reads posts in the order of the index of positions.
  private(set) var people: String?
  /// Whether posts are counted by the cells of a map, in no order.
  let isCounted: Bool

  /// The number of map cells of an area of five by five degrees. For a larger area the newest of all posts are filtered
  /// instead, because many of them lie in it.
  static let maxCells = 400

  /// The number of posts in an area up to which all of them are read and sorted. Where more are, a page is soon found among the latest.
  static let maxSorted = 2000

  /// The number of places of a category up to which the posts of each are read in their order. Where more are, a page is soon found among the
  /// latest.
  static let maxPlaces = 1000

  /// The number of friends up to which a list by distance sorts the posts of all of them.
  static let maxFriends = 200

  /// The beginning of the year 1 and the end of the year 9999, in microseconds since 1970-01-01 UTC.
  private static let times: (first: Int64, last: Int64) = (-62_135_596_800_000_000, 253_402_300_799_000_000)

  /// - Parameters:
  ///   - nearest: of a list by distance, what is read for the piece.
  ///   - isCrowded: whether the posts of the piece are read in their order, because it has more than are sorted; by distance, those of the
  ///     filter's people are, who have fewer.
  ///   - cells: the map cells whose posts are read in their order; nil: the posts of all cells are filtered.
  ///   - isByPlace: whether the posts of each place of the filter's category are read in their order.
  ///   - level: the level of a map, by whose cells posts are counted; nil: posts are listed.
  init(
    _ filter: PostFilter, _ viewer: Viewer, _ piece: MapArea.Piece?, _ page: PageRequest,
    _ nearest: NearestFirst? = nil, isCrowded: Bool = false, cells: [Int]? = nil, isByPlace: Bool = false,
    level: Int? = nil
  ) {
    self.filter = filter
    self.cells = cells
    self.isByPlace = isByPlace
    isCounted = level != nil
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
      Posts.parameter(filter.visibilities), .integer(level ?? page.limit + 1), viewer.parameter,
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
    }
    if let area = filter.areas.required {
      let within = area.condition(from: parameters.count + 1)
      parameters += within.parameters
      conditions.append(within.text)
    }
    if let since = filter.updatedSince {
      require("updated_at >= $::timestamptz", .timestamp(microseconds: since))
      if let to = filter.to { require("created_at < $::timestamptz", .timestamp(microseconds: to)) }
    }
    if nearest != nil && isCrowded { readPeople() }
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

  private mutating func readPeople() {
    parameters.append(filter.feed.map(Parameter.text) ?? .texts(filter.authors))
    people = (filter.feed == nil ? "unnest($::text[])" : Self.friends).replacing("$", with: "$\(parameters.count)")
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

  /// Adds what the filter asks of each post beside its time and place: the one list of these conditions.
  private mutating func addConditions(isSorted: Bool) {
    let keys = isSorted ? nil : self.keys
    let authors = filter.authors
    if let keys { conditions.append("\(keys.column) = keys.key") }
    if authors.count == 1 { require("author = $", .text(authors[0])) }
    if authors.count > 1, keys?.column != "author" { require("author = ANY ($::text[])", .texts(authors)) }
    if let user = filter.feed, people == nil, keys?.column != "author" {
      require(ofFeed(isSorted: isSorted), .text(user))
    }
    if let cells, keys?.column != "map_cell" { require("map_cell = ANY ($::int[])", .integers(cells.map(Int64.init))) }
    if !filter.ids.isEmpty { require("public_id = ANY ($::uuid[])", .texts(filter.ids.map(\.description))) }
    if let place = filter.place { require("place_id = $", .text(place)) }
    if let category = filter.category, !isByPlace || isSorted {
      require(
        """
        (SELECT place.categories @> ARRAY[$::text] AND (NOT place.is_hidden OR viewer::text IS NULL)
        FROM place WHERE place.id = post.place_id)
        """, .text(category))
    }
    if let kind = filter.kinds.first, filter.kinds.count == 1 { require("kind = $", .text(kind.rawValue)) }
    if filter.kinds.count > 1, keys?.column != "kind" { require("kind = ANY ($::text[])", kinds) }
    for condition in filter.fields?.conditions ?? [] { require(condition.text, .text(condition.parameter)) }
    if filter.near != nil, filter.order != .distance { conditions.append("\(Self.distance) <= $10::bigint") }
  }

  /// The condition that a post is the user's or a friend's. Numbers are counted from the posts of each of them; of the posts of an area or of a
  /// place, each asks for its author.
  private func ofFeed(isSorted: Bool) -> String {
    isCounted && !isSorted && filter.place == nil
      ? "author IN \(Self.friends)"
      : """
      (author = $ OR (SELECT true FROM relation
        WHERE relation.user_id = $ AND relation.target = post.author AND relation.kind = 'friend') IS NOT NULL)
      """
  }

  private mutating func require(_ condition: String, _ parameter: Parameter) {
    parameters.append(parameter)
    conditions.append(condition.replacing("$", with: "$\(parameters.count)").replacing("viewer", with: "$7"))
  }

  /// The distance from the point whose latitude and longitude are the parameters 8 and 9.
  static let distance = distance(latitude: "$8::float8", longitude: "$9::float8")
}
