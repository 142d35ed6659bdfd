import Glibc

/// The surroundings of a point: what lies within a distance on the great circle, on a sphere with the mean radius of the Earth
/// (IUGG).
package struct Nearness: Sendable, Hashable {
  /// The mean radius of the Earth, in meters.
  package static let earthRadius = 6_371_008.8
  /// The range of distances, in meters.
  package static let distances = 1...100_000

  package let center: Coordinate
  /// The largest distance, in meters.
  package let meters: Int
  /// A box around all points within the distance.
  package let area: MapArea

  /// Nil if a value is out of range.
  package init?(longitude: Double, latitude: Double, meters: Int) {
    guard let center = Coordinate(latitude: latitude, longitude: longitude), Self.distances.contains(meters) else {
      return nil
    }
    // A little more than the distance, so that no rounding cuts the edge.
    let angle = Double(meters) / Self.earthRadius * 1.000_001 + 1e-9
    let (south, north) = (latitude - angle * 180 / .pi, latitude + angle * 180 / .pi)
    // Around a pole lie all longitudes. Elsewhere the meridians that touch the circle bound it.
    let reach =
      south <= -90 || north >= 90 ? 180 : min(180, asin(min(1, sin(angle) / cos(latitude * .pi / 180))) * 180 / .pi)
    let wrapped = { (longitude: Double) in
      longitude > 180 ? longitude - 360 : longitude < -180 ? longitude + 360 : longitude
    }
    guard
      let area = reach >= 180
        ? MapArea(west: -180, south: max(-90, south), east: 180, north: min(90, north))
        : MapArea(west: wrapped(longitude - reach), south: south, east: wrapped(longitude + reach), north: north)
    else { return nil }
    self.center = center
    self.meters = meters
    self.area = area
  }
}

/// The order of a list of posts.
package enum PostOrder: String, Sendable, CaseIterable {
  /// The newest first.
  case newest
  /// The nearest first, of those near a point.
  case distance
  /// The latest first by the time that the calendar goes by, of one author.
  case taken
}
