import FoundationEssentials
package import Model
package import Postgres
import Queue

/// Lists of posts, the newest first, each page by an index.
extension Store {
  /// Whether there is a post of this id.
  package func hasPost(_ id: String, _ session: Session) throws(PostgresError) -> Bool {
    try !session.execute(Self.statements["post"], .text(id)).isEmpty
  }

  /// A page of the posts that a filter lets through.
  package func posts(_ filter: PostFilter, _ page: PageRequest, _ session: Session) throws -> Page<Post> {
    try session.snapshot { session in
      let end = ContinuousClock.now + Self.maxListTime
      var rows = try pieces(of: filter).flatMap { piece in
        // Each statement has a limit of its own, and beyond this one none begins; nor where nobody waits for it.
        guard .now < end, !Task.isCancelled else {
          throw PostgresError(.server, "the list takes too long", sqlState: "57014")
        }
        return try self.rows(filter, piece, page, session)
      }
      if filter.area != nil {
        // Pieces do not overlap in one area, but the areas of one request may.
        var seen: Set<Int64> = []
        rows = try rows.filter { seen.insert(try $0.get("id")).inserted }
        let order = try rows.map { (row: $0, place: try Self.cursor($0)) }
        rows = order.sorted { ($0.place.time, $0.place.id) > ($1.place.time, $1.place.id) }.map(\.row)
      }
      let shown = Array(rows.prefix(page.limit))
      return Page(
        items: try posts(of: shown, session),
        next: try rows.count > page.limit ? shown.last.map(Self.cursor) : nil)
    }
  }

  /// The days of an author's month that have posts, the first day first; nil if there is no such zone.
  ///
  /// - Parameters:
  ///   - month: its first day, as `2026-11-01`.
  ///   - zone: by its name in the IANA database.
  package func calendar(
    of author: String, month: String, zone: String, visibilities: Set<Visibility>, _ session: Session
  ) throws -> [CalendarDay]? {
    try session.snapshot { session in
      guard try !session.execute(Self.statements["has_zone"], .text(zone)).isEmpty else { return nil }
      let rows = Array(
        try session.execute(
          Self.statements["calendar"], .text(author), .text(zone), .text(month), Self.words(visibilities)))
      let sets = try rows.compactMap { try $0.get("asset_set_id", as: Int64?.self) }
      let assets = try self.assets(ofSets: sets, session)
      return try rows.map { row in
        let set = try row.get("asset_set_id", as: Int64?.self)
        return CalendarDay(
          date: try row.get("date"), posts: try row.get("posts"), post: try row.publicID("public_id"),
          image: Self.cellImage(among: set.flatMap { assets[$0] } ?? []))
      }
    }
  }

  /// What a small cell shows: the frame that was made for it, or else the smallest picture that is no square.
  private static func cellImage(among assets: [Asset]) -> Asset? {
    let order: [Role] = [.image, .photoSmall, .thumbnail, .poster, .photoMedium]
    return order.lazy.compactMap { role in assets.first { $0.role == role && $0.place == 0 } }.first
  }

  static func words(_ visibilities: Set<Visibility>) -> Parameter {
    .texts((visibilities.isEmpty ? Set(Visibility.allCases) : visibilities).map(\.rawValue).sorted())
  }

  /// From the year 1 to the year 9999, in microseconds since 1970-01-01 UTC.
  private static let times: (first: Int64, last: Int64) = (-62_135_596_800_000_000, 253_402_300_799_000_000)

  private func pieces(of filter: PostFilter) -> [MapArea.Piece?] {
    filter.area.map { $0.pieces.map(Optional.some) } ?? [nil]
  }

  /// How PostgreSQL carries out a page of posts, with what it took: lines of `EXPLAIN (ANALYZE, BUFFERS)`.
  package func explain(_ filter: PostFilter, _ page: PageRequest, _ session: Session) throws -> [String] {
    try pieces(of: filter).flatMap { piece in
      let (statement, parameters) = statement(filter, piece, page)
      return try explain(statement, parameters, session)
    }
  }

  /// The same of a month of an author.
  package func explain(
    calendarOf author: String, month: String, zone: String, _ session: Session
  ) throws -> [String] {
    try explain(
      Self.statements["calendar"], [.text(author), .text(zone), .text(month), Self.words([])], session)
  }

  private func explain(_ statement: Statement, _ parameters: [Parameter], _ session: Session) throws -> [String] {
    let explained = Statement(
      name: "explain." + statement.name, text: "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) " + statement.text)
    return try session.execute(explained, parameters).map { try $0.get("QUERY PLAN") }
  }

  private func rows(
    _ filter: PostFilter, _ piece: MapArea.Piece?, _ page: PageRequest, _ session: Session
  ) throws -> [Row] {
    let (statement, parameters) = statement(filter, piece, page)
    return Array(try session.execute(statement, parameters))
  }

  private func statement(
    _ filter: PostFilter, _ piece: MapArea.Piece?, _ page: PageRequest
  ) -> (Statement, [Parameter]) {
    var end = PageCursor(time: filter.to ?? Self.times.last, id: 0)
    if let after = page.after, (after.time, after.id) < (end.time, end.id) { end = after }
    var parameters: [Parameter] = [
      .timestamp(microseconds: end.time), .integer(end.id),
      .timestamp(microseconds: filter.from ?? Self.times.first), .texts(filter.statuses.map(\.rawValue).sorted()),
      Self.words(filter.visibilities), .integer(page.limit + 1),
    ]
    var conditions: [String] = []
    func demand(_ condition: String, _ parameter: Parameter) {
      parameters.append(parameter)
      conditions.append(condition.replacing("$", with: "$\(parameters.count)"))
    }
    let authors = filter.authors.sorted()
    if authors.count == 1 { demand("author = $", .text(authors[0])) }
    if let place = filter.place { demand("place_id = $", .text(place)) }
    if let kind = filter.kind { demand("kind = $", .text(kind.rawValue)) }
    let cells = piece?.cells(most: Self.maxCells)
    // Of several cells, or authors, each has its part of an index.
    let isByAuthor = authors.count > 1 && cells == nil
    if cells != nil { conditions.append("map_cell = near.key") }
    if isByAuthor {
      conditions.append("author = near.key")
    } else if authors.count > 1 {
      demand("author = ANY ($::text[])", .texts(authors))
    }
    if let piece {
      demand("position <@ $::polygon", .text(Self.polygon(piece.ring)))
      if !piece.holes.isEmpty {
        demand("NOT position <@ ANY ($::polygon[])", .texts(piece.holes.map(Self.polygon)))
      }
    }
    let base = Self.statements["posts"]
    let text = conditions.map { $0 + " AND " }.joined()
    let list = base.text.replacing("CONDITIONS ", with: text)
    let keys: String
    if let cells {
      keys = "int[]"
      parameters.append(.integers(cells.map(Int64.init)))
    } else if isByAuthor {
      keys = "text[]"
      parameters.append(.texts(authors))
    } else {
      return (Statement(name: base.name + "." + text, text: list), parameters)
    }
    // The newest of each by the index, and the newest of those.
    let near = """
      SELECT found.* FROM unnest($\(parameters.count)::\(keys)) AS near (key) CROSS JOIN LATERAL (\(list)) AS found
      ORDER BY found.created_at DESC, found.id DESC LIMIT $6::int
      """
    return (Statement(name: base.name + ".near." + text, text: near), parameters)
  }

  /// For so long the pieces of an area are looked for.
  private static let maxListTime = Duration.seconds(3)

  /// Five degrees by five. In what is larger the newest posts of all are looked through: many of them lie in it.
  private static let maxCells = 400

  /// As PostgreSQL reads a polygon: the longitude is x.
  private static func polygon(_ corners: [MapArea.Corner]) -> String {
    "(" + corners.map { "(\($0.longitude),\($0.latitude))" }.joined(separator: ",") + ")"
  }

  static func cursor(_ row: Row) throws(PostgresError) -> PageCursor {
    PageCursor(time: try row.get("created_at"), id: try row.get("id"))
  }
}
