/// A ring of a polygon as a client writes it, without the closing corner.
///
/// An edge of more than 180° of longitude may mean what it says, or the shorter way across the antimeridian. RFC 7946 decides
/// (section 3.1.6): outer rings go counterclockwise, holes clockwise.
struct MapRing {
  typealias Corner = MapArea.Corner

  /// The longitudes that a ring may have: what lies beyond ±180 is on the other side of the antimeridian.
  private static let longitudes = -540.0...540.0

  private let written: [Corner]

  /// Nil if it has less than three corners, or one that is out of range.
  init?(_ ring: [Corner]) {
    written = ring.count > 1 && ring.first == ring.last ? Array(ring.dropLast()) : ring
    guard written.count >= 3,
      written.allSatisfy({ Self.longitudes.contains($0.longitude) && (-90...90).contains($0.latitude) })
    else { return nil }
  }

  /// The corners of an outer ring; nil for a ring around a pole.
  var outer: [Corner]? { read { _ in Self.area(written) < 0 } }

  /// The corners of a hole; nil for one around a pole.
  ///
  /// - Parameter ring: the corners of its ring. A reading that lies within its longitudes precedes one that does not.
  func hole(in ring: [Corner]) -> [Corner]? {
    read { across in
      let fits = (Self.fits(written, in: ring), Self.fits(across, in: ring))
      return fits.0 == fits.1 ? Self.area(written) > 0 : fits.1
    }
  }

  /// - Parameter crosses: whether a ring that can be read both ways is the one across the antimeridian, which it receives.
  private func read(_ crosses: ([Corner]) -> Bool) -> [Corner]? {
    guard edges.contains(where: { Self.isLong(from: $0, to: $1) }), written.allSatisfy({ abs($0.longitude) <= 180 })
    else {
      return written
    }
    let hasArea = Self.area(written) != 0
    guard let across else { return hasArea ? written : nil }
    guard hasArea else { return across }
    // A ring around the whole earth has no width across the antimeridian.
    return Self.area(across) != 0 && crosses(across) ? across : written
  }

  /// The ring with longitudes that continue beyond ±180 where an edge has more than 180°; nil if it does not close, because it goes around
  /// a pole.
  private var across: [Corner]? {
    var corners: [Corner] = []
    var shift = 0.0
    for (corner, next) in edges {
      corners.append(Corner(corner.longitude + shift, corner.latitude))
      if Self.isLong(from: corner, to: next) { shift += next.longitude < corner.longitude ? 360 : -360 }
    }
    return shift == 0 ? corners : nil
  }

  private var edges: Zip2Sequence<[Corner], ArraySlice<Corner>> { Self.edges(of: written) }

  private static func edges(of corners: [Corner]) -> Zip2Sequence<[Corner], ArraySlice<Corner>> {
    zip(corners, (corners + corners.prefix(1)).dropFirst())
  }

  private static func isLong(from corner: Corner, to next: Corner) -> Bool {
    abs(next.longitude - corner.longitude) > 180
  }

  /// Twice the area in square degrees (the shoelace formula); negative if the ring goes clockwise.
  private static func area(_ corners: [Corner]) -> Double {
    edges(of: corners).reduce(0) { sum, edge in
      sum + edge.0.longitude * edge.1.latitude - edge.1.longitude * edge.0.latitude
    }
  }

  /// Whether corners, shifted by a multiple of 360°, lie between the westernmost and the easternmost corner of a ring, or the ring around the
  /// whole earth.
  private static func fits(_ corners: [Corner], in ring: [Corner]) -> Bool {
    let (inner, outer) = (corners.map(\.longitude), ring.map(\.longitude))
    guard let west = inner.min(), let east = inner.max(), let start = outer.min(), let end = outer.max() else {
      return false
    }
    return end - start >= 360 || [-360.0, 0, 360].contains { west + $0 >= start && east + $0 <= end }
  }
}
