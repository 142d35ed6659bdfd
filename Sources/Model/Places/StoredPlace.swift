package import FoundationEssentials

/// A place with an id of the app's, as the API returns it.
package struct StoredPlace: Sendable, Hashable {
  package let id: String
  package let description: PlaceDescription
  /// The app's id of the user who described it first; nil: a client that acts as no user, or only posts name it.
  package let author: String?
  /// Whether its author alone describes it.
  package let isOwn: Bool
  package let createdAt: Date
  /// The number of changes of the description.
  package let revision: Int64
  package let counts: PlaceCounts
  /// The latest photo of it by role, or else the images of its newest post, that the viewer sees.
  package let photo: [Role: Asset]
  /// Whether everybody may see the photo.
  package let isPublic: Bool
  /// What the viewer has noted about it.
  package let note: String?
  package let ratings: PlaceRatings
  /// The distance from the point of the list, in meters; nil: no list by distance from a point has it.
  package var distance: Double?

  package init(
    id: String, description: PlaceDescription, author: String?, isOwn: Bool, createdAt: Date, revision: Int64,
    counts: PlaceCounts, photo: [Role: Asset], isPublic: Bool, note: String?, ratings: PlaceRatings
  ) {
    self.id = id
    self.description = description
    self.author = author
    self.isOwn = isOwn
    self.createdAt = createdAt
    self.revision = revision
    self.counts = counts
    self.photo = photo
    self.isPublic = isPublic
    self.note = note
    self.ratings = ratings
  }
}

/// What an app says of a place.
package struct PlaceDescription: Encodable, Sendable, Hashable {
  /// The range of ratings.
  package static let ratings = 0.0...5.0
  /// The range of price levels.
  package static let priceLevels = 1...4
  /// The greatest number of categories.
  package static let maxCategories = 20

  package var name: String?
  package var coordinate: Coordinate?
  package var categories: [String]
  package var rating: Double?
  package var priceLevel: Int?

  package init(
    name: String? = nil, coordinate: Coordinate? = nil, categories: [String] = [], rating: Double? = nil,
    priceLevel: Int? = nil
  ) {
    self.name = name
    self.coordinate = coordinate
    self.categories = categories
    self.rating = rating
    self.priceLevel = priceLevel
  }
}

/// The counters of a place.
package struct PlaceCounts: Codable, Sendable, Hashable {
  /// The number of public posts that are ready.
  package let posts: Int
  /// The number of users who have them.
  package let users: Int
  /// The number of users who favour it.
  package let favourites: Int
  /// The number of collections with it that the viewer sees.
  package let collections: Int
  package let comments: Int

  package init(posts: Int, users: Int, favourites: Int, collections: Int, comments: Int) {
    self.posts = posts
    self.users = users
    self.favourites = favourites
    self.collections = collections
    self.comments = comments
  }
}

/// The conditions on the places of a list.
package struct PlaceFilter: Sendable, Hashable {
  package var area: MapArea?
  /// The point that they are near, in addition to `area`.
  package var near: Nearness?
  package var category: String?
  package var order = PlaceOrder.posts

  package init() {}
}

/// The order of a list of places.
package enum PlaceOrder: String, Sendable, CaseIterable {
  /// Those with most public posts first.
  case posts
  /// Places that most users favour first; for a client that acts as no user, with the collections that have it.
  case saves
  /// The nearest first, of those near a point.
  case distance
}

/// A user who has public posts at a place.
package struct PlaceUser: Codable, Sendable, Hashable {
  package let user: String
  /// The number of these posts.
  package let posts: Int

  package init(user: String, posts: Int) {
    self.user = user
    self.posts = posts
  }
}

/// What a user has noted about a place, for the eyes of the user only.
package struct PlaceNote: Codable, Sendable, Hashable {
  /// The app's id of the place.
  package let place: String
  package let text: String
  package let createdAt: Date
  package let updatedAt: Date

  package init(place: String, text: String, createdAt: Date, updatedAt: Date) {
    self.place = place
    self.text = text
    self.createdAt = createdAt
    self.updatedAt = updatedAt
  }
}
