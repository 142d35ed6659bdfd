package import FoundationEssentials

/// How a user rates a place.
package struct PlaceRating: Codable, Sendable, Hashable {
  /// The range of ratings, in steps of a half.
  package static let ratings = 1.0...5.0

  /// The app's id of the place.
  package let place: String
  package let rating: Double
  package let createdAt: Date
  package let updatedAt: Date

  package init(place: String, rating: Double, createdAt: Date, updatedAt: Date) {
    self.place = place
    self.rating = rating
    self.createdAt = createdAt
    self.updatedAt = updatedAt
  }
}

/// The ratings of a place by users.
package struct PlaceRatings: Sendable, Hashable {
  package let count: Int
  /// Nil without a rating.
  package let mean: Double?
  /// The viewer's.
  package let own: Double?

  /// - Parameters:
  ///   - halves: the sum of the ratings, in halves.
  ///   - own: the rating of the viewer, in halves.
  package init(count: Int, halves: Int, own: Int?) {
    self.count = count
    mean = count > 0 ? Double(halves) / 2 / Double(count) : nil
    self.own = own.map { Double($0) / 2 }
  }
}
