/// A part of the map in degrees; its edges are straight in longitude and latitude (RFC 7946, section 3.1.1).
///
/// One that crosses the antimeridian lies in two pieces, beyond both ends of the range of longitudes: points are kept from
/// -180 to 180, so that each is found in one of them.
package struct MapArea: Sendable, Hashable {
  /// The most corners of an area, its holes included.
  package static let maxCorners = 1000
  /// The most polygons of an area.
  package static let maxPolygons = 32

  /// A corner: longitude, which may lie outside of -180 to 180, and latitude.
  package struct Corner: Sendable, Hashable {
    package let longitude: Double
    package let latitude: Double

    package init(_ longitude: Double, _ latitude: Double) {
      self.longitude = longitude
      self.latitude = latitude
    }
  }

  /// A ring and the rings that are cut out of it, each without its last corner, which is its first.
  package struct Piece: Sendable, Hashable {
    package let ring: [Corner]
    package let holes: [[Corner]]
  }

  package let pieces: [Piece]

  /// The area between two meridians and two parallels; where `west` lies east of `east`, across the antimeridian.
  ///
  /// Nil where it is turned over, or reaches beyond the poles or the antimeridian.
  package init?(west: Double, south: Double, east: Double, north: Double) {
    guard [west, east].allSatisfy((-180...180).contains), [south, north].allSatisfy((-90...90).contains),
      south <= north
    else { return nil }
    let end = west <= east ? east : east + 360
    let ring = [Corner(west, south), Corner(end, south), Corner(end, north), Corner(west, north)]
    pieces = Self.copies(of: ring, holes: [])
  }

  /// Polygons, each a ring and its holes; a ring is closed by its first corner and, if wanted, says so by a last one.
  ///
  /// An edge is the short way between two corners. Nil where a ring has less than three corners, goes around a pole, or
  /// all of them have too many.
  package init?(polygons: [[[Corner]]]) {
    guard (1...Self.maxPolygons).contains(polygons.count),
      polygons.joined().map(\.count).reduce(0, +) <= Self.maxCorners
    else { return nil }
    var pieces: [Piece] = []
    for polygon in polygons {
      let rings = polygon.compactMap(Self.unrolled)
      guard rings.count == polygon.count, let ring = rings.first else { return nil }
      pieces += Self.copies(of: ring, holes: Array(rings.dropFirst()))
    }
    self.pieces = pieces
  }

  /// A ring whose longitudes go on beyond the antimeridian instead of jumping over it.
  private static func unrolled(_ ring: [Corner]) -> [Corner]? {
    let isClosed = ring.count > 1 && ring.first == ring.last
    var corners: [Corner] = []
    var shift = 0.0
    for corner in isClosed ? Array(ring.dropLast()) : ring {
      guard (-180...180).contains(corner.longitude), (-90...90).contains(corner.latitude) else { return nil }
      if let last = corners.last {
        let step = corner.longitude + shift - last.longitude
        if step > 180 { shift -= 360 } else if step < -180 { shift += 360 }
      }
      corners.append(Corner(corner.longitude + shift, corner.latitude))
    }
    guard corners.count >= 3, let first = corners.first, let last = corners.last,
      abs(last.longitude - first.longitude) <= 180
    else { return nil }
    return corners
  }

  /// The ring where points may lie in it, once for each turn around the earth.
  private static func copies(of ring: [Corner], holes: [[Corner]]) -> [Piece] {
    [-360.0, 0, 360].compactMap { turn in
      let longitudes = ring.map { $0.longitude + turn }
      guard let least = longitudes.min(), let most = longitudes.max(), least <= 180, most >= -180 else { return nil }
      let moved = { (corners: [Corner]) in corners.map { Corner($0.longitude + turn, $0.latitude) } }
      // Holes were unrolled by themselves: each is cut out wherever it may lie.
      let cuts = holes.flatMap { hole in
        [-360.0, 0, 360].map { way in hole.map { Corner($0.longitude + way, $0.latitude) } }
      }
      return Piece(ring: moved(ring), holes: cuts)
    }
  }
}
