/// An area of the map in degrees; its edges are straight in longitude and latitude (RFC 7946, section 3.1.1).
///
/// An area across the antimeridian has two pieces, one beyond each end of the range -180 to 180. Stored longitudes lie
/// in that range, so each point is found in one of the pieces.
package struct MapArea: Sendable, Hashable {
  /// The maximum number of corners of an area, holes included.
  package static let maxCorners = 1000
  /// The maximum number of polygons of an area.
  package static let maxPolygons = 32

  /// A corner; its longitude may lie outside of -180 to 180.
  package struct Corner: Sendable, Hashable {
    package let longitude: Double
    package let latitude: Double

    package init(_ longitude: Double, _ latitude: Double) {
      self.longitude = longitude
      self.latitude = latitude
    }
  }

  /// A ring and its holes; the closing corner of a ring is not repeated.
  package struct Piece: Sendable, Hashable {
    package let ring: [Corner]
    package let holes: [[Corner]]
  }

  package let pieces: [Piece]

  /// The area between two meridians and two parallels, across the antimeridian if `west` is greater than `east`.
  ///
  /// Nil if a value is out of range, or `south` is greater than `north`.
  package init?(west: Double, south: Double, east: Double, north: Double) {
    guard [west, east].allSatisfy((-180...180).contains), [south, north].allSatisfy((-90...90).contains),
      south <= north
    else { return nil }
    let end = west <= east ? east : east + 360
    let ring = [Corner(west, south), Corner(end, south), Corner(end, north), Corner(west, north)]
    pieces = Self.copies(of: ring, holes: [])
  }

  /// An area of polygons, each a ring and its holes; the closing corner of a ring is optional.
  ///
  /// Nil if a ring has less than three corners or encloses a pole, or if there are too many corners or polygons.
  package init?(polygons: [[[Corner]]]) {
    guard (1...Self.maxPolygons).contains(polygons.count),
      polygons.joined().map(\.count).reduce(0, +) <= Self.maxCorners
    else { return nil }
    var pieces: [Piece] = []
    for polygon in polygons {
      let rings = polygon.compactMap(MapRing.init)
      guard rings.count == polygon.count, let ring = rings.first?.outer else { return nil }
      let holes = rings.dropFirst().compactMap { $0.hole(in: ring) }
      guard holes.count == rings.count - 1 else { return nil }
      pieces += Self.copies(of: ring, holes: holes)
    }
    self.pieces = pieces
  }

  /// The square degrees around its pieces: what of two areas is smaller has fewer posts.
  package var extent: Double {
    pieces.compactMap(\.bounds).reduce(0) { $0 + ($1.east - $1.west) * ($1.north - $1.south) }
  }

  /// The copies of the ring, shifted by multiples of 360°, that overlap the range -180 to 180.
  private static func copies(of ring: [Corner], holes: [[Corner]]) -> [Piece] {
    [-360.0, 0, 360].compactMap { shift in
      let longitudes = ring.map { $0.longitude + shift }
      guard let west = longitudes.min(), let east = longitudes.max(), west <= 180, east >= -180 else { return nil }
      // Of a ring around the earth, a copy that only touches the antimeridian repeats what another one has.
      guard east - west < 360 || west < 180 && east > -180 else { return nil }
      let shifted = ring.map { Corner($0.longitude + shift, $0.latitude) }
      // Holes are read independently of where their ring is: all three copies are cut out.
      let cuts = holes.flatMap { hole in
        [-360.0, 0, 360].map { shift in hole.map { Corner($0.longitude + shift, $0.latitude) } }
      }
      return Piece(ring: shifted, holes: cuts)
    }
  }
}

/// The numbers of map cells of a quarter of a degree by a quarter of a degree.
///
/// An index on cell and time finds the posts of an area and a range of times. The database computes the same number in
/// the column `map_cell`.
package enum MapCell {
  /// The number of cells in a degree.
  package static let perDegree = 4.0
  /// The number of cells from pole to pole, both included.
  package static let rows = 721

  /// The number of the cell of a point.
  package static func number(longitude: Double, latitude: Double) -> Int {
    column(longitude) * rows + row(latitude)
  }

  fileprivate static func column(_ longitude: Double) -> Int { Int(((longitude + 180) * perDegree).rounded(.down)) }
  fileprivate static func row(_ latitude: Double) -> Int { Int(((latitude + 90) * perDegree).rounded(.down)) }
}

extension MapArea.Piece {
  /// The longitudes, cut off at -180 and 180, and the latitudes between which it lies; nil without corners.
  package var bounds: (west: Double, south: Double, east: Double, north: Double)? {
    let longitudes = ring.map { min(180, max(-180, $0.longitude)) }
    let latitudes = ring.map(\.latitude)
    guard let west = longitudes.min(), let east = longitudes.max(), let south = latitudes.min(),
      let north = latitudes.max()
    else { return nil }
    return (west, south, east, north)
  }

  /// The numbers of the cells that it may touch; nil if they are more than `limit`.
  package func cells(limit: Int) -> [Int]? {
    guard let bounds else { return [] }
    let columns = MapCell.column(bounds.west)...MapCell.column(bounds.east)
    let rows = MapCell.row(bounds.south)...MapCell.row(bounds.north)
    guard columns.count * rows.count <= limit else { return nil }
    return columns.flatMap { column in rows.map { column * MapCell.rows + $0 } }
  }
}
