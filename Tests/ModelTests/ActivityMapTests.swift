import FoundationEssentials
import Model
import Testing

@Suite("Activity on a map")
struct ActivityMapTests {
  private static let now = Date(timeIntervalSince1970: 1_795_600_000)

  private static func area(_ west: Double, _ south: Double, _ east: Double, _ north: Double) throws -> MapArea {
    try #require(MapArea(west: west, south: south, east: east, north: north))
  }

  @Test(
    "every area has a limited number of cells, and these cover it",
    arguments: [
      [-180, -90, 180, 90], [13.3, 52.4, 13.5, 52.6], [13.37771, 52.5163, 13.37772, 52.51631], [170, -20, -170, 20],
      [-180, -90, -180, -90], [180, 90, 180, 90], [0, 0, 0, 0], [9, 47, 40, 60],
    ] as [[Double]])
  func cells(box: [Double]) throws {
    let area = try Self.area(box[0], box[1], box[2], box[3])
    let map = ActivityMap(area, from: nil, to: nil, now: Self.now)
    #expect(1...ActivityMap.maxCells ~= map.cells.count && Set(map.cells).count == map.cells.count)
    let boxes = map.cells.map { ActivityMap.box(ofCell: $0, level: map.level) }
    for (longitude, latitude) in [(box[0], box[1]), (box[2], box[3]), (box[0], box[3]), (box[2], box[1])] {
      #expect(
        boxes.contains { $0.west <= longitude && longitude <= $0.east && $0.south <= latitude && latitude <= $0.north })
    }
    // The next level would have too many, or there is none.
    #expect(map.level == ActivityMap.levels.upperBound || map.cells.count > ActivityMap.maxCells / 16)
  }

  @Test(
    "times are rounded outwards to the shortest period that is stored for them",
    arguments: [
      (nil, nil, ActivityMap.Period.month, nil, nil),
      (-3600, nil, .hour, "2026-11-25T12:00:00Z", nil),
      (-86_400, nil, .hour, "2026-11-24T13:00:00Z", nil),
      (-86_401, nil, .day, "2026-11-24T00:00:00Z", nil),
      (-8 * 86_400, -8 * 86_400 + 3600, .day, "2026-11-17T00:00:00Z", "2026-11-18T00:00:00Z"),
      (-40 * 86_400, nil, .month, "2026-10-01T00:00:00Z", nil),
      (nil, -86_400, .month, nil, "2026-12-01T00:00:00Z"),
    ] as [(Double?, Double?, ActivityMap.Period, String?, String?)])
  func times(
    from: Double?, to: Double?, period: ActivityMap.Period, start: String?, end: String?
  ) throws {
    let now = try #require(JSON.date(from: "2026-11-25T13:20:00Z"))
    let map = ActivityMap(
      try Self.area(-180, -90, 180, 90), from: from.map(now.addingTimeInterval), to: to.map(now.addingTimeInterval),
      now: now)
    #expect(map.period == period)
    #expect(map.from == start.flatMap { JSON.date(from: $0) } && map.to == end.flatMap { JSON.date(from: $0) })
  }
}
