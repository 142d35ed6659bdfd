import Model
import Testing

@Suite("Map areas")
struct MapAreaTests {
  @Test("a box across the antimeridian has two pieces, any other box one")
  func boxes() throws {
    let plain = try #require(MapArea(west: 10, south: 40, east: 20, north: 50))
    #expect(plain.pieces.map { $0.ring.map(\.longitude) } == [[10, 20, 20, 10]])
    let pacific = try #require(MapArea(west: 170, south: -20, east: -170, north: -10))
    #expect(pacific.pieces.map { $0.ring.map(\.longitude) } == [[-190, -170, -170, -190], [170, 190, 190, 170]])
    #expect(MapArea(west: 0, south: 50, east: 1, north: 40) == nil)
    #expect(MapArea(west: -181, south: 0, east: 1, north: 1) == nil)
  }

  @Test("a box around the earth has one piece, and a box that ends at the antimeridian has both sides of it")
  func edges() throws {
    #expect(try #require(MapArea(west: -180, south: -90, east: 180, north: 90)).pieces.count == 1)
    #expect(try #require(MapArea(west: 0, south: -90, east: 180, north: 90)).pieces.count == 2)
  }

  @Test("edges take the shorter way; a polygon around a pole is rejected")
  func polygons() throws {
    let ring = [(175.0, 0.0), (-175, 0), (-175, 10), (175, 10), (175, 0)].map { MapArea.Corner($0.0, $0.1) }
    let area = try #require(MapArea(polygons: [[ring]]))
    #expect(area.pieces.map { $0.ring.map(\.longitude) } == [[-185, -175, -175, -185], [175, 185, 185, 175]])
    let polar = [(0.0, 80.0), (90, 80), (180, 80), (-90, 80)].map { MapArea.Corner($0.0, $0.1) }
    #expect(MapArea(polygons: [[polar]]) == nil)
    #expect(MapArea(polygons: [[Array(ring.prefix(2))]]) == nil)
    let many = (0...MapArea.maxCorners).map { MapArea.Corner(Double($0 % 90), Double($0 % 80)) }
    #expect(MapArea(polygons: [[many]]) == nil)
  }

  @Test("every point of a piece lies in one of its cells")
  func cells() throws {
    let area = try #require(MapArea(west: 13.2, south: 52.3, east: 13.6, north: 52.6))
    let cells = try #require(area.pieces[0].cells(limit: 400))
    for longitude in stride(from: 13.2, through: 13.6, by: 0.05) {
      for latitude in stride(from: 52.3, through: 52.6, by: 0.05) {
        #expect(cells.contains(MapCell.number(longitude: longitude, latitude: latitude)))
      }
    }
    #expect(cells.count == 6)
    #expect(MapArea(west: -180, south: -90, east: 180, north: 90)?.pieces[0].cells(limit: 400) == nil)
    #expect(MapCell.number(longitude: 180, latitude: 90) < Int(Int32.max))
  }

  @Test(
    "a cursor is parsed from its text only",
    arguments: [(0, 0), (1_800_000_000_000_000, 42), (253_402_300_799_000_000, 4_738_381_338_321_616_895)])
  func cursor(time: Int64, id: Int64) throws {
    let cursor = PageCursor(time: time, id: id)
    #expect(PageCursor(cursor.text) == cursor)
    for wrong in ["", "1", "1-", "-1-2", "1-2-3", "1-?", "zzzzzzzzzzzzzz-1"] { #expect(PageCursor(wrong) == nil) }
  }
}
