import FoundationEssentials
package import Model
package import Postgres
import Queue

/// Lists of posts, the newest first. An index yields each page.
extension Store {
  /// Whether the viewer sees a post with this id.
  package func hasPost(_ id: String, for viewer: Viewer, _ session: Session) throws(PostgresError) -> Bool {
    try !session.execute(Self.statements["author_of_post"], .text(id), viewer.parameter).isEmpty
  }

  /// Reads a page of the posts that match a filter and that the viewer sees.
  package func posts(
    _ filter: PostFilter, for viewer: Viewer, _ page: PageRequest, _ session: Session
  ) throws -> Page<Post> {
    try session.snapshot { session in
      let end = ContinuousClock.now + Self.maxListTime
      var rows = try pieces(of: filter).flatMap { piece in
        // Each statement has its own timeout. After the limit, or if the request was cancelled, no further one starts.
        guard .now < end, !Task.isCancelled else {
          throw PostgresError(.server, "the list takes too long", sqlState: "57014")
        }
        return try self.rows(filter, viewer, piece, page, session)
      }
      if filter.area != nil {
        // The pieces of one area do not overlap, but a request may have several areas.
        var seen: Set<Int64> = []
        rows = try rows.filter { seen.insert(try $0.get("id")).inserted }
        let order = try rows.map { (row: $0, cursor: try Self.cursor($0)) }
        rows = order.sorted { ($0.cursor.time, $0.cursor.id) > ($1.cursor.time, $1.cursor.id) }.map(\.row)
      }
      let shown = Array(rows.prefix(page.limit))
      return Page(
        items: try posts(of: shown, session),
        next: try rows.count > page.limit ? shown.last.map(Self.cursor) : nil)
    }
  }

  /// Reads the days of a month on which an author has posts that the viewer sees, in ascending order; nil if the time
  /// zone is unknown.
  ///
  /// - Parameters:
  ///   - month: the first day of the month, such as `2026-11-01`.
  ///   - zone: the name of a time zone in the IANA database.
  package func calendar(
    of author: String, for viewer: Viewer, month: String, zone: String, visibilities: Set<Visibility>,
    _ session: Session
  ) throws -> [CalendarDay]? {
    try session.snapshot { session in
      guard try timeZones.contain(zone, session) else { return nil }
      let rows = Array(
        try session.execute(
          Self.statements["calendar"], .text(author), .text(zone), .text(month), Self.parameter(visibilities),
          viewer.parameter))
      let sets = try rows.compactMap { try $0.get("asset_set_id", as: Int64?.self) }
      let assets = try self.assets(ofSets: sets, session)
      return try rows.map { row in
        let set = try row.get("asset_set_id", as: Int64?.self)
        return CalendarDay(
          date: try row.get("date"), posts: try row.get("posts"), post: try row.publicID("public_id"),
          image: Self.cellImage(among: set.flatMap { assets[$0] } ?? []), isPublic: try row.get("is_public"))
      }
    }
  }

  /// Returns the image for a cell of a calendar: the role made for it, or else the smallest image that is not square.
  private static func cellImage(among assets: [Asset]) -> Asset? {
    let order: [Role] = [.image, .photoSmall, .thumbnail, .poster, .photoMedium]
    return order.lazy.compactMap { role in assets.first { $0.role == role && $0.place == 0 } }.first
  }

  private static func parameter(_ visibilities: Set<Visibility>) -> Parameter {
    .texts((visibilities.isEmpty ? Set(Visibility.allCases) : visibilities).map(\.rawValue).sorted())
  }

  /// The beginning of the year 1 and the end of the year 9999, in microseconds since 1970-01-01 UTC.
  private static let times: (first: Int64, last: Int64) = (-62_135_596_800_000_000, 253_402_300_799_000_000)

  private func pieces(of filter: PostFilter) -> [MapArea.Piece?] {
    filter.area.map { $0.pieces.map(Optional.some) } ?? [nil]
  }

  private func rows(
    _ filter: PostFilter, _ viewer: Viewer, _ piece: MapArea.Piece?, _ page: PageRequest, _ session: Session
  ) throws -> [Row] {
    let (statement, parameters) = statement(filter, viewer, piece, page)
    return Array(try session.execute(statement, parameters))
  }

  private func statement(
    _ filter: PostFilter, _ viewer: Viewer, _ piece: MapArea.Piece?, _ page: PageRequest
  ) -> (Statement, [Parameter]) {
    var end = PageCursor(time: filter.to ?? Self.times.last, id: 0)
    if let after = page.after, (after.time, after.id) < (end.time, end.id) { end = after }
    var parameters: [Parameter] = [
      .timestamp(microseconds: end.time), .integer(end.id),
      .timestamp(microseconds: filter.from ?? Self.times.first), .texts(filter.statuses.map(\.rawValue).sorted()),
      Self.parameter(filter.visibilities), .integer(page.limit + 1), viewer.parameter,
    ]
    var conditions: [String] = []
    func require(_ condition: String, _ parameter: Parameter) {
      parameters.append(parameter)
      conditions.append(condition.replacing("$", with: "$\(parameters.count)"))
    }
    let authors = filter.authors.sorted()
    if authors.count == 1 { require("author = $", .text(authors[0])) }
    if let place = filter.place { require("place_id = $", .text(place)) }
    if let kind = filter.kind { require("kind = $", .text(kind.rawValue)) }
    let cells = piece?.cells(limit: Self.maxCells)
    // For several cells, or several authors, the rows of each are a separate range of an index.
    let isByAuthor = authors.count > 1 && cells == nil
    if cells != nil { conditions.append("map_cell = keys.key") }
    if isByAuthor {
      conditions.append("author = keys.key")
    } else if authors.count > 1 {
      require("author = ANY ($::text[])", .texts(authors))
    }
    if let piece {
      require("position <@ $::polygon", .text(Self.polygon(piece.ring)))
      if !piece.holes.isEmpty {
        require("NOT position <@ ANY ($::polygon[])", .texts(piece.holes.map(Self.polygon)))
      }
    }
    let base = Self.statements["posts"]
    let filters = conditions.map { $0 + " AND " }.joined()
    let list = base.text.replacing("CONDITIONS ", with: filters)
    let keyType: String
    if let cells {
      keyType = "int[]"
      parameters.append(.integers(cells.map(Int64.init)))
    } else if isByAuthor {
      keyType = "text[]"
      parameters.append(.texts(authors))
    } else {
      return (Statement(name: base.name + "." + filters, text: list), parameters)
    }
    // The newest rows of each range, and the newest of those.
    let text = """
      SELECT found.* FROM unnest($\(parameters.count)::\(keyType)) AS keys (key) CROSS JOIN LATERAL (\(list)) AS found
      ORDER BY found.created_at DESC, found.id DESC LIMIT $6::int
      """
    return (Statement(name: base.name + ".by_key." + filters, text: text), parameters)
  }

  /// The time after which no further piece of an area is queried.
  private static let maxListTime = Duration.seconds(3)

  /// The number of map cells of an area of five by five degrees. For a larger area the newest of all posts are filtered
  /// instead, because many of them lie in it.
  private static let maxCells = 400

  /// Formats a polygon for PostgreSQL: the longitude is x.
  private static func polygon(_ corners: [MapArea.Corner]) -> String {
    "(" + corners.map { "(\($0.longitude),\($0.latitude))" }.joined(separator: ",") + ")"
  }

  static func cursor(_ row: Row) throws(PostgresError) -> PageCursor {
    PageCursor(time: try row.get("created_at"), id: try row.get("id"))
  }
}
