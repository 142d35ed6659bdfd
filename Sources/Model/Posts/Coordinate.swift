/// A point on the earth in degrees (WGS 84).
package struct Coordinate: Codable, Sendable, Hashable {
  /// -90 to 90, north positive.
  package let latitude: Double
  /// -180 to 180, east positive.
  package let longitude: Double

  /// Nil outside the ranges.
  package init?(latitude: Double, longitude: Double) {
    guard (-90...90).contains(latitude), (-180...180).contains(longitude) else { return nil }
    self.latitude = latitude
    self.longitude = longitude
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let latitude = try container.decode(Double.self, forKey: .latitude)
    let longitude = try container.decode(Double.self, forKey: .longitude)
    guard let coordinate = Coordinate(latitude: latitude, longitude: longitude) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "latitude is -90 to 90, longitude -180 to 180"))
    }
    self = coordinate
  }
}
