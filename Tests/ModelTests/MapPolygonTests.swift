import Model
import Testing

/// Polygons of any size, compared with what plain arithmetic says of each point.
@Suite("Polygons of a map")
struct MapPolygonTests {
  private typealias Corner = MapArea.Corner
  typealias Rectangle = (west: Double, east: Double, south: Double, north: Double)

  /// A grid that touches no edge of the tests.
  private static let points = stride(from: -179.37, to: 180, by: 7.13).flatMap { longitude in
    stride(from: -88.7, to: 90, by: 9.1).map { Corner(longitude, $0) }
  }

  /// Whether a ray from the point crosses the ring an odd number of times.
  private static func isInside(_ point: Corner, _ ring: [Corner]) -> Bool {
    zip(ring, (ring + ring.prefix(1)).dropFirst()).count { from, to in
      (from.latitude > point.latitude) != (to.latitude > point.latitude)
        && point.longitude - from.longitude
          < (point.latitude - from.latitude) * (to.longitude - from.longitude) / (to.latitude - from.latitude)
    } % 2 == 1
  }

  private static func contains(_ area: MapArea, _ point: Corner) -> Bool {
    area.pieces.contains { piece in
      isInside(point, piece.ring) && !piece.holes.contains { isInside(point, $0) }
    }
  }

  /// Whether a point lies in a rectangle on the longitudes of a circle.
  private static func contains(_ box: Rectangle, _ point: Corner) -> Bool {
    let eastward = (point.longitude - box.west).truncatingRemainder(dividingBy: 360)
    return (eastward < 0 ? eastward + 360 : eastward) < box.east - box.west
      && (box.south...box.north).contains(point.latitude)
  }

  /// The corners as GeoJSON has them: counterclockwise from the southwest, between -180 and 180 unless they are kept as they are.
  private static func ring(_ box: Rectangle, wrapped: Bool, clockwise: Bool = false) -> [Corner] {
    let (west, east) =
      wrapped
      ? ((box.west + 540).truncatingRemainder(dividingBy: 360) - 180, box.east > 180 ? box.east - 360 : box.east)
      : (box.west, box.east)
    let ring = [
      Corner(west, box.south), Corner(east, box.south), Corner(east, box.north), Corner(west, box.north),
      Corner(west, box.south),
    ]
    return clockwise ? ring.reversed() : ring
  }

  private static func expect(_ polygons: [[[Corner]]], _ isExpected: (Corner) -> Bool, _ name: String) throws {
    let area = try #require(MapArea(polygons: polygons), "\(name)")
    let wrong = points.filter { contains(area, $0) != isExpected($0) }
    #expect(wrong.isEmpty, "\(name): \(wrong.prefix(3))")
  }

  @Test("a rectangle of any width has what lies in it, whether it crosses the antimeridian or not")
  func widths() throws {
    for width in stride(from: 10.0, through: 360, by: 12.5) {
      for west in stride(from: -180.0, to: 180, by: 20) where width < 360 || west == -180 {
        let box: Rectangle = (west, west + width, -60, 75)
        // Across the antimeridian, corners that are less than 180° apart say the other side of the earth.
        if box.east <= 180 || width < 180 {
          try Self.expect([[Self.ring(box, wrapped: true)]], { Self.contains(box, $0) }, "\(box)")
        }
        // Longitudes beyond ±180 say where the ring goes, in whatever direction.
        try Self.expect([[Self.ring(box, wrapped: false)]], { Self.contains(box, $0) }, "\(box), not wrapped")
        guard box.east > 180 else { continue }
        try Self.expect(
          [[Self.ring(box, wrapped: false, clockwise: true)]], { Self.contains(box, $0) }, "\(box), clockwise")
      }
    }
  }

  @Test(
    "the world is the world, in both directions and however a map writes it",
    arguments: [
      [-180, -90, 180, -90, 180, 90, -180, 90], [-180, -85, 180, -85, 180, 85, -180, 85],
      [-180, -85, -180, 85, 180, 85, 180, -85], [180, 85, -180, 85, -180, -85, 180, -85],
      [-180, -85, 0, -85, 180, -85, 180, 85, 0, 85, -180, 85], [-180, 85, 0, 85, 180, 85, 180, -85, -180, -85],
      [-270, -85, 270, -85, 270, 85, -270, 85], [-200, -85, -200, 85, 190, 85, 190, -85],
    ] as [[Double]])
  func world(numbers: [Double]) throws {
    let ring = stride(from: 0, to: numbers.count, by: 2).map { Corner(numbers[$0], numbers[$0 + 1]) }
    try Self.expect([[ring]], { abs($0.latitude) < (numbers.contains(90) ? 90 : 85) }, "\(numbers)")
  }

  @Test(
    "a clockwise ring with edges of more than 180° takes the shorter way, and so do all rings whose edges are short")
  func directions() throws {
    let (fiji, wide): (Rectangle, Rectangle) = ((170, 195, -30, 0), (-165, 170, -30, 0))
    try Self.expect([[Self.ring(fiji, wrapped: true)]], { Self.contains(fiji, $0) }, "fiji")
    try Self.expect([[Self.ring(fiji, wrapped: true, clockwise: true)]], { Self.contains(wide, $0) }, "fiji, clockwise")
    let europe: Rectangle = (-10, 40, 35, 70)
    for clockwise in [false, true] {
      try Self.expect(
        [[Self.ring(europe, wrapped: true, clockwise: clockwise)]], { Self.contains(europe, $0) }, "europe")
    }
    // One long edge leads around a pole, so it is what it says.
    let triangle = [Corner(-170, 0), Corner(170, 0), Corner(0, 80)]
    try Self.expect([[triangle]], { Self.isInside($0, triangle) }, "triangle")
  }

  @Test("holes of any size are cut out, across the antimeridian or not, and in the direction that they have there")
  func holes() throws {
    let world: Rectangle = (-180, 180, -85, 85)
    let fiji: Rectangle = (170, 195, -30, 0)
    let pairs: [(Rectangle, Rectangle)] = [
      (world, (-100, 120, -40, 40)), (world, fiji), (world, (10, 30, 10, 40)),
      ((-150, 150, -60, 60), (-120, 120, -30, 30)), ((150, 230, -60, 60), fiji),
    ]
    for (outer, hole) in pairs {
      let expected = { (point: Corner) in Self.contains(outer, point) && !Self.contains(hole, point) }
      let ring = Self.ring(outer, wrapped: true)
      try Self.expect([[ring, Self.ring(hole, wrapped: true, clockwise: true)]], expected, "\(outer) without \(hole)")
      // Where only one reading lies in the ring, the direction does not matter.
      guard outer != world || hole.east <= 180 && hole.east - hole.west <= 180 else { continue }
      try Self.expect([[ring, Self.ring(hole, wrapped: true)]], expected, "\(outer) without \(hole), counterclockwise")
    }
  }

  @Test("several polygons are each what they say: what RFC 7946 cuts in two is whole again")
  func parts() throws {
    let (west, east): (Rectangle, Rectangle) = ((120, 180, -50, 10), (-180, -100, -50, 10))
    let wide: Rectangle = (-95, 95, 30, 80)
    try Self.expect(
      [west, east, wide].map { [Self.ring($0, wrapped: false)] },
      { Self.contains((120, 260, -50, 10), $0) || Self.contains(wide, $0) }, "cut")
  }

  @Test(
    "what is no ring is refused: too few corners, out of range, around a pole",
    arguments: [
      [0, 0, 10, 10], [0, 0, 10, 10, 541, 0], [0, 0, 10, 91, 20, 0], [0, 80, 90, 80, 180, 80, -90, 80],
      [-180, 89, -60, 89, 60, 89, 180, 89],
    ] as [[Double]])
  func refused(numbers: [Double]) {
    let ring = stride(from: 0, to: numbers.count, by: 2).map { Corner(numbers[$0], numbers[$0 + 1]) }
    #expect(MapArea(polygons: [[ring]]) == nil)
    let square = [Corner(-170, -80), Corner(170, -80), Corner(170, 85), Corner(-170, 85)]
    #expect(MapArea(polygons: [[square, ring]]) == nil)
  }
}
