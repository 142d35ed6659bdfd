import CRoomsSQL
import FoundationEssentials
package import Kit
package import Model
package import Platform
package import Postgres
package import Queue
package import Store

extension PlaceFilter {
  /// Whether the list may read many more rows than it has, as that of posts.
  package var isWide: Bool { area?.isWide == true || near?.isWide == true }
}

/// Places and what users note about them. Triggers keep the counters.
package enum Places: IncludedRoom {
  package static let statements = Statements(
    topic: "places", Store.fragments, RoomsSQL.Places)

  package static let schema: [EmbeddedText] = [RoomsSQL.Places_schema, RoomsSQL.Map_schema]

  package static let migrations = [
    Migration(version: 156, name: "places_of_friends", RoomsSQL.v0156_places_of_friends),
    Migration(version: 159, name: "places", RoomsSQL.v0159_places),
    Migration(version: 161, name: "lookups", RoomsSQL.v0161_lookups),
    Migration(version: 164, name: "places_of_viewers", RoomsSQL.v0164_places_of_viewers),
    Migration(version: 172, name: "ages", RoomsSQL.v0172_ages),
    Migration(version: 175, name: "area", RoomsSQL.v0175_area),
    Migration(version: 176, name: "withdrawn_words", RoomsSQL.v0176_withdrawn_words),
  ]

  package static var maintenance: [MaintenanceTask] { [MaintenanceTask("activity", deleting: dropOldActivity)] }

  package static var exports: [Export] {
    [
      Export("notes", statements["notes_by_user"]) { try note($0) },
      Export("ratings", statements["ratings_by_user"]) { try rating($0) },
      Export("places", statements["descriptions_by_user"], by: "number") {
        ExportedDescription(place: try $0.get("place_id"), description: try PlaceDescription($0))
      },
    ]
  }

  package static var forgetting: [ForgettingStep] {
    [
      ForgettingStep(
        mention: "EXISTS (SELECT FROM place_description WHERE user_id = $1)", statements["drop_descriptions_of_user"],
        lockedBy: [statements["lock_described_places"]]),
      ForgettingStep(
        mention: "EXISTS (SELECT FROM place_rating WHERE user_id = $1)", statements["drop_ratings_of_user"],
        lockedBy: [statements["lock_rated_places"]]),
      ForgettingStep(
        mention: "EXISTS (SELECT FROM place_note WHERE user_id = $1)", statements["drop_notes_of_user"],
        statements["blank_places"]),
    ]
  }

  package static var checks: [RowCheck] {
    let repair = [statements["lock_counted_place"], statements["correct_place"]]
    return [
      RowCheck("place", statements["check_places"], repair: repair),
      RowCheck("place", statements["check_unknown_places"], repair: repair),
      RowCheck("month", statements["check_activity"]) { month, session in
        try session.execute(statements["lock_activity"])
        try session.execute(statements["drop_activity"], .text(month))
        try session.execute(statements["add_activity"], .text(month))
      },
    ]
  }

  /// Reads a place with its latest photo; nil if there is none that is known.
  package static func find(_ id: String, for viewer: Viewer, _ session: Session) throws -> StoredPlace? {
    try session.reading { session in
      try read(of: Array(session.execute(Self.statements["place"], .text(id), viewer.parameter)), session).first
    }
  }

  /// Reads places by their ids, in the order of these.
  package static func list(_ ids: [String], for viewer: Viewer, _ session: Session) throws -> [StoredPlace] {
    try session.snapshot { session in
      try read(
        of: Array(session.execute(Self.statements["places_by_id"], .texts(ids), viewer.parameter)), session)
    }
  }

  /// Reads a page of the places that match a filter.
  package static func list(
    _ filter: PlaceFilter, for viewer: Viewer, _ page: PageRequest, _ session: Session
  ) throws -> Page<StoredPlace> {
    try session.snapshot { session in
      var rows: [(row: Row, cursor: PageCursor)] = []
      let isByDistance = filter.order == .distance
      if isByDistance {
        try session.execute(Store.statements["read_in_order_of_index"])
      } else if filter.category == nil {
        try session.execute(Store.statements["read_without_bitmaps"])
      }
      let area = isByDistance ? filter.near?.area : filter.area ?? filter.near?.area
      for piece in area.map({ $0.pieces.map(Optional.some) }) ?? [nil] {
        rows += try
          (Self.rows(filter, viewer, piece, page, session)
          + ofFriends(filter, viewer, piece, page, session)).map { row in
            (row, PageCursor(time: try row.get("key"), id: try row.get("number")))
          }
      }
      if isByDistance { try session.execute(Store.statements["read_in_any_order"]) }
      // The pieces do not overlap but at their edges.
      var seen: Set<Int64> = []
      rows = rows.filter { seen.insert($0.cursor.id).inserted }
        .sorted { ($0.cursor.time, $0.cursor.id) > ($1.cursor.time, $1.cursor.id) }
      let shown = rows.prefix(page.limit)
      var places = try read(of: shown.map(\.row), session)
      for (index, (row, _)) in shown.enumerated() where filter.near != nil {
        places[index].distance = try Double(row.get("distance", as: Int64.self)) / 1000
      }
      return Page(items: places, next: rows.count > page.limit ? shown.last?.cursor : nil)
    }
  }

  /// The places whose coordinates only posts for friends say, in an area.
  private static func ofFriends(
    _ filter: PlaceFilter, _ viewer: Viewer, _ piece: MapArea.Piece?, _ page: PageRequest, _ session: Session
  ) throws -> [Row] {
    guard viewer.user != nil, piece != nil, filter.category == nil else { return [] }
    let query = PlaceListQuery(filter, viewer, piece, page)
    return Array(try session.execute(query.statementOfFriends, query.parameters))
  }

  private static func rows(
    _ filter: PlaceFilter, _ viewer: Viewer, _ piece: MapArea.Piece?, _ page: PageRequest, _ session: Session
  ) throws -> [Row] {
    if filter.order == .distance, let near = filter.near, let piece {
      var nearest = NearestFirst(near, piece, limit: page.limit)
      return try nearest.rows { nearest in
        let query = PlaceListQuery(filter, viewer, piece, page, nearest)
        return Array(try session.execute(query.statement, query.parameters))
      }
    }
    let query = PlaceListQuery(filter, viewer, piece, page)
    return Array(try session.execute(query.statement, query.parameters))
  }

  /// Reads a page of the users who have public posts at a place, in the order of their ids; nil if the place is not known.
  ///
  /// - Parameter user: the last user of the page before.
  package static func users(
    of id: String, after user: String?, limit: Int, for viewer: Viewer, _ session: Session
  ) throws -> (items: [PlaceUser], hasMore: Bool)? {
    try session.snapshot { session in
      guard try !session.execute(Self.statements["has_place"], .text(id), viewer.parameter).isEmpty else { return nil }
      let users = try session.execute(
        Self.statements["users_of_place"], .text(id), .text(user ?? ""), .integer(limit + 1), viewer.parameter
      ).map { PlaceUser(user: try $0.get("user_id"), posts: try $0.get("posts")) }
      return (Array(users.prefix(limit)), users.count > limit)
    }
  }
}

extension Places {
  package static func included(
    _ ids: [String], for viewer: Viewer, _ urls: MediaURLs, _ session: Session
  ) throws -> [String: IncludedRecord] {
    let places = try list(ids, for: viewer, session)
    return Dictionary(places.map { ($0.id, IncludedRecord(StoredPlaceResponse($0, urls))) }) { first, _ in first
    }
  }

  package static let record = RecordKind(
    .place, author: "place.author", missing: .placeNotFound, { "The place '\($0)' does not exist." },
    lock: { place, viewer, session in
      let locked = try session.execute(statements["lock_known_place"], .text(place.id), viewer.parameter)
      return locked.isEmpty ? nil : RecordKind.Locked()
    },
    setHidden: { place, _, isHidden, session in
      try session.execute(statements["hide_place"], .text(place.id), .bool(isHidden))
    })
}
