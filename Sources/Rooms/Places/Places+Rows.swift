import FoundationEssentials
import Model
import Postgres
import Queue
import Store

/// Places from rows.
extension Places {
  static func read(of rows: [Row], _ session: Session) throws -> [StoredPlace] {
    let assets = try Assets.list(
      ofSets: rows.compactMap { try $0.get("asset_set_id", as: Int64?.self) }, session)
    return try rows.map { row in
      let set = try row.get("asset_set_id", as: Int64?.self)
      return StoredPlace(
        id: try row.get("id"),
        description: try PlaceDescription(row),
        author: try row.get("author"), isOwn: try row.get("is_own"),
        createdAt: Date(microseconds: try row.get("created_at")),
        revision: try row.get("revision"),
        counts: PlaceCounts(
          posts: try row.get("post_count"), users: try row.get("author_count"),
          favourites: try row.get("favourite_count"), collections: try row.get("collection_count"),
          comments: try row.get("comment_count")),
        photo: Self.picture(among: set.flatMap { assets[$0] } ?? []), isPublic: try row.get("is_public"),
        note: try row.get("note"),
        ratings: PlaceRatings(
          count: try row.get("rating_count"), halves: try row.get("rating_halves"), own: try row.get("own_halves")))
    }
  }

  /// The images of a photo, or of a post: of several photos the first.
  private static func picture(among assets: [Asset]) -> [Role: Asset] {
    let images = assets.filter { $0.place == 0 && !$0.role.isSource && $0.type.utf8.starts(with: "image/".utf8) }
    return Dictionary(images.map { ($0.role, $0) }) { first, _ in first }
  }
}

extension PlaceDescription {
  /// Reads the columns of a description, the categories as JSON.
  init(_ row: Row) throws {
    var coordinate: Coordinate?
    if let latitude = try row.get("latitude", as: Double?.self),
      let longitude = try row.get("longitude", as: Double?.self)
    {
      coordinate = Coordinate(latitude: latitude, longitude: longitude)
    }
    self.init(
      name: try row.get("name"), coordinate: coordinate, categories: try row.json("categories"),
      rating: try row.get("rating"), priceLevel: try row.get("price_level"))
  }
}
