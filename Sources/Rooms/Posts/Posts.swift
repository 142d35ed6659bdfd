import CRoomsSQL
import FoundationEssentials
package import Kit
package import Model
package import Postgres
import Queue
import Store

extension PostFilter {
  /// The area whose posts are read, and one that is a condition on these: of an area and the surroundings of a point, the smaller one is read.
  var areas: (read: MapArea?, required: MapArea?) {
    guard let near else { return (area, nil) }
    guard let area else { return (near.area, nil) }
    return order == .distance || near.area.extent <= area.extent ? (near.area, area) : (area, nil)
  }

  /// Whether the list may read many more rows than it has: of a large area, of what is far from a point, of the posts of all to find those
  /// of a category, or of rare values of fields.
  package var isWide: Bool {
    if fields != nil { return true }
    if let area = areas.read { return area == near?.area ? near?.isWide == true : area.isWide }
    return category != nil
  }
}

extension Nearness {
  /// Whether the circle is larger than that of a list without a radius, and may have many more rows than a page.
  var isWide: Bool { meters > 5000 }
}

/// Posts and their lists, the newest first. An index yields each page.
package enum Posts: RecordRoom {
  package static let statements = Statements(
    topic: "posts", Store.fragments, RoomsSQL.Posts, fragments: PostColumn.fragments)

  /// Whether the viewer sees a post with this id.
  package static func exists(_ id: String, for viewer: Viewer, _ session: Session) throws(PostgresError) -> Bool {
    try !session.execute(Self.statements["author_of_post"], .text(id), viewer.parameter).isEmpty
  }

  /// Reads a page of the posts that match a filter and that the viewer sees.
  package static func list(
    _ filter: PostFilter, for viewer: Viewer, _ page: PageRequest, _ session: Session
  ) throws -> Page<Post> {
    try session.snapshot { session in
      let end = ContinuousClock.now + Self.maxListTime
      let isByDistance = filter.order == .distance
      if isByDistance {
        try session.execute(Store.statements["read_in_order_of_index"])
      } else if !filter.needsBitmaps {
        try session.execute(Store.statements["read_without_bitmaps"])
      }
      var rows = try pieces(of: filter).flatMap { piece in
        // Each statement has its own timeout. After the limit, or if the request was cancelled, no further one starts.
        guard .now < end, !Task.isCancelled else {
          throw PostgresError(.server, "the list takes too long", sqlState: "57014")
        }
        return try Self.rows(filter, viewer, piece, page, session)
      }
      if isByDistance { try session.execute(Store.statements["read_in_any_order"]) }
      let cursor = isByDistance ? PageCursor.near : PageCursor.listed
      if filter.areas.read != nil {
        // The pieces of one area do not overlap, but a request may have several areas.
        var seen: Set<Int64> = []
        rows = try rows.filter { seen.insert(try $0.get("id")).inserted }
        let order = try rows.map { (row: $0, cursor: try cursor($0)) }
          .sorted { ($0.cursor.time, $0.cursor.id) < ($1.cursor.time, $1.cursor.id) }.map(\.row)
        rows = isByDistance ? order : order.reversed()
      }
      let shown = Array(rows.prefix(page.limit))
      var posts = try read(of: shown, for: viewer, session)
      for (index, row) in shown.enumerated() where filter.near != nil {
        posts[index].distance = try Double(row.get("distance", as: Int64.self)) / 1000
      }
      return Page(items: posts, next: try rows.count > page.limit ? shown.last.map(cursor) : nil)
    }
  }

  /// Reads the days of a month on which an author has posts that the viewer sees, in ascending order; nil if the time
  /// zone is unknown.
  ///
  /// - Parameters:
  ///   - month: the first day of the month, such as `2026-11-01`.
  ///   - zone: the name of a time zone in the IANA database.
  package static func calendar(
    of author: String, for viewer: Viewer, month: String, zone: String, visibilities: Set<Visibility>,
    zones: KnownTimeZones, _ session: Session
  ) throws -> [CalendarDay]? {
    try session.snapshot { session in
      guard try zones.contain(zone, session) else { return nil }
      let rows = Array(
        try session.execute(
          Self.statements["calendar"], .text(author), .text(zone), .text(month), Self.parameter(visibilities),
          viewer.parameter))
      let sets = try rows.compactMap { try $0.get("asset_set_id", as: Int64?.self) }
      let assets = try Assets.list(ofSets: sets, session)
      return try rows.map { row in
        let set = try row.get("asset_set_id", as: Int64?.self)
        return CalendarDay(
          date: try row.get("date"), posts: try row.get("posts"), post: try row.publicID("public_id"),
          image: Self.cellImage(among: set.flatMap { assets[$0] } ?? []), isPublic: try row.get("is_public"))
      }
    }
  }

  /// Returns the image for a cell of a calendar.
  private static func cellImage(among assets: [Asset]) -> Asset? {
    Role.pictures(for: .calendar).lazy.compactMap { role in assets.first { $0.role == role && $0.place == 0 } }.first
  }

  static func parameter(_ visibilities: Set<Visibility>) -> Parameter {
    .texts((visibilities.isEmpty ? Set(Visibility.allCases) : visibilities).map(\.rawValue).sorted())
  }

  /// The time after which no further piece of an area is queried.
  private static let maxListTime = Duration.seconds(3)

  static func pieces(of filter: PostFilter) -> [MapArea.Piece?] {
    filter.areas.read.map { $0.pieces.map(Optional.some) } ?? [nil]
  }

  private static func rows(
    _ filter: PostFilter, _ viewer: Viewer, _ piece: MapArea.Piece?, _ page: PageRequest, _ session: Session
  ) throws -> [Row] {
    if filter.order == .distance, let near = filter.near, let piece {
      var nearest = NearestFirst(near, piece, limit: page.limit)
      let isByPeople = try isOfFew(filter, session) && isCrowded(piece, session)
      return try nearest.rows { nearest in
        let query = PostListQuery(filter, viewer, piece, page, nearest, isCrowded: isByPeople)
        return Array(try session.execute(query.statement, query.parameters))
      }
    }
    let isCrowded = try isCrowded(piece, session)
    let isByPlace = try (piece == nil || isCrowded) && isByPlace(filter, session)
    return try Self.newest(filter, viewer, piece, page, isCrowded: isCrowded, isByPlace: isByPlace) { query in
      Array(try session.execute(query.statement, query.parameters))
    }
  }

  /// Reads the newest posts of a piece by one statement, or of a crowded one by two.
  static func newest(
    _ filter: PostFilter, _ viewer: Viewer, _ piece: MapArea.Piece?, _ page: PageRequest, isCrowded: Bool,
    isByPlace: Bool = false, _ read: (PostListQuery) throws -> [Row]
  ) throws -> [Row] {
    guard isCrowded, let piece, !isByPlace, filter.order != .taken else {
      return try read(PostListQuery(filter, viewer, piece, page, isCrowded: isCrowded, isByPlace: isByPlace))
    }
    var filter = filter
    var rows: [Row] = []
    for cells in PostListQuery.steps(piece) {
      rows += try read(PostListQuery(filter, viewer, piece, page, isCrowded: true, cells: cells))
      if rows.count > page.limit, filter.updatedSince == nil {
        filter.from = max(filter.from ?? .min, try PageCursor.created(rows[page.limit]).time)
      }
    }
    return rows
  }

  /// Whether a list has posts of some authors, or of few friends: there may be many others near a point, and these few far away.
  private static func isOfFew(_ filter: PostFilter, _ session: Session) throws -> Bool {
    guard let user = filter.feed else { return !filter.authors.isEmpty }
    let rows = try session.execute(
      Self.statements["friends_of"], .text(user), .integer(Int64(PostListQuery.maxFriends + 1)))
    return try rows.first?.get("found", as: Int.self) ?? 0 <= PostListQuery.maxFriends
  }

  /// Whether a list of the posts of a category, which no other condition makes short, reads those of each place that has it.
  private static func isByPlace(_ filter: PostFilter, _ session: Session) throws -> Bool {
    guard let category = filter.category, filter.order == .newest, filter.authors.isEmpty, filter.feed == nil,
      filter.place == nil, filter.ids.isEmpty
    else { return false }
    let limit = PostListQuery.maxPlaces + 1
    let rows = try session.execute(Self.statements["places_of_category"], .text(category), .integer(Int64(limit)))
    return try rows.first?.get("found", as: Int.self) != limit
  }

  /// Whether a piece of an area has more posts than a list reads before it sorts them.
  static func isCrowded(_ piece: MapArea.Piece?, _ session: Session) throws(PostgresError) -> Bool {
    guard let piece else { return false }
    let limit = PostListQuery.maxSorted + 1
    let rows = try session.execute(
      Self.statements["posts_within"], .text(PostListQuery.polygon(piece.ring)), .integer(Int64(limit)))
    return try rows.first?.get("found", as: Int.self) == limit
  }

  /// Reads a post with its current assets and its job from one snapshot; nil if the viewer sees no such post.
  package static func find(_ id: PublicID, for viewer: Viewer, _ session: Session) throws -> Post? {
    try session.reading { session in
      let rows =
        viewer == .unrestricted
        ? try session.execute(Self.statements["any_post"], .text(id.description))
        : try session.execute(Store.statements["post"], .text(id.description), viewer.parameter)
      return try read(of: Array(rows), for: viewer, session).first
    }
  }
}
