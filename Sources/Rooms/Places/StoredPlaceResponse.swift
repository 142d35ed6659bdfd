import FoundationEssentials
internal import Kit
internal import Model

/// The JSON of a stored place; unknown values are null, and `distance` is there in a list near a point only.
struct StoredPlaceResponse: NilEncodable, Sendable {
  private let place: StoredPlace
  private let urls: MediaURLs

  init(_ place: StoredPlace, _ urls: MediaURLs) {
    self.place = place
    self.urls = urls
  }

  /// The path of a place.
  static func path(_ id: String) -> String { "/v1/places/\(MediaURLs.percentEncoded(id))" }

  private enum CodingKeys: CodingKey { case id, author, own, createdAt, counts, photo, note, ratings, distance }

  private struct Ratings: NilEncodable {
    let mean: Double?
    let count: Int
    let own: Double?
  }

  func encode(to encoder: any Encoder) throws {
    try place.description.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(place.id, forKey: .id)
    try container.encode(place.author, forKey: .author)
    try container.encode(place.isOwn, forKey: .own)
    try container.encode(place.createdAt, forKey: .createdAt)
    try container.encode(place.counts, forKey: .counts)
    try container.encode(
      place.photo.mapValues { AssetResponse($0, urls, isPublic: place.isPublic) }, forKey: .photo)
    try container.encode(place.note, forKey: .note)
    try container.encode(
      Ratings(mean: place.ratings.mean, count: place.ratings.count, own: place.ratings.own), forKey: .ratings)
    if let distance = place.distance { try container.encode(distance, forKey: .distance) }
  }
}

/// The JSON of the activity on a map; unknown values are null.
struct ActivityMapResponse: NilEncodable {
  private struct Cell: Encodable {
    /// West, south, east and north in degrees.
    let box: [Double]
    let center: Coordinate
    let posts: Int
  }

  let period: ActivityMap.Period
  let from: Date?
  let to: Date?
  let level: Int
  private let cells: [Cell]

  init(_ map: ActivityMap, _ cells: [ActivityCell]) {
    period = map.period
    from = map.from
    to = map.to
    level = map.level
    self.cells = cells.map { cell in
      let box = ActivityMap.box(ofCell: cell.cell, level: map.level)
      return Cell(box: [box.west, box.south, box.east, box.north], center: cell.center, posts: cell.posts)
    }
  }
}

extension StoredPlace: Versioned {
  /// The description, without the counts and the photo.
  var version: some Encodable { ["id": id, "revision": "\(revision)"] }
}

extension PlaceNote: Versioned {
  var version: some Encodable { ["place": place, "text": text] }
}
