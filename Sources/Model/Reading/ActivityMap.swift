package import FoundationEssentials

/// The parts of a map, and the times, for which the numbers of posts are stored as sums: of one request always a limited number.
///
/// The database computes the same numbers of cells in the function `map_cells`.
package struct ActivityMap: Sendable, Hashable {
  /// The duration of the periods of the sums, in UTC.
  package enum Period: String, Codable, Sendable, CaseIterable {
    case hour
    case day
    case month
  }

  /// The levels of cells. A cell of level 0 has 22.5 by 22.5 degrees, and each level halves both.
  package static let levels = 0...13
  /// The maximum number of cells of a map.
  package static let maxCells = 256
  /// The longest times that are covered by hours and by days, in seconds.
  private static let longest: (hours: Double, days: Double) = (24 * 3600, 31 * 86_400)
  /// The age after which hours are no longer stored, in seconds: seven days.
  package static let maxAgeOfHours = 7.0 * 86_400

  package let level: Int
  /// The numbers of the cells.
  package let cells: [Int64]
  package let period: Period
  /// The time from which posts count, the beginning of a period; nil: all earlier ones too.
  package let from: Date?
  /// The time before which posts count, the end of a period; nil: all later ones too.
  package let to: Date?

  /// The finest map of an area with at most `maxCells` cells, and with the shortest periods that a time permits.
  package init(_ area: MapArea, from: Date?, to: Date?, now: Date) {
    var (level, cells) = (0, Self.cells(of: area, level: 0))
    for finer in Self.levels.dropFirst() {
      let next = Self.cells(of: area, level: finer)
      guard next.count <= Self.maxCells else { break }
      (level, cells) = (finer, next)
    }
    self.level = level
    self.cells = cells.sorted()
    let duration = from.map { (to ?? now).timeIntervalSince($0) } ?? .infinity
    let isRecent = from.map { $0 > now.addingTimeInterval(-Self.maxAgeOfHours) } ?? false
    let period: Period =
      duration <= Self.longest.hours && isRecent ? .hour : duration <= Self.longest.days ? .day : .month
    self.period = period
    self.from = from.map { Self.start(of: period, at: $0) }
    self.to = to.map { to in
      let start = Self.start(of: period, at: to)
      return start == to ? to : Self.end(of: period, from: start)
    }
  }

  /// The corners of a cell, in degrees.
  package static func box(ofCell cell: Int64, level: Int) -> (west: Double, south: Double, east: Double, north: Double)
  {
    let size = size(level)
    let (column, row) = cell.quotientAndRemainder(dividingBy: rows(level))
    let (west, south) = (Double(column) * size - 180, Double(row) * size - 90)
    return (west, south, min(180, west + size), min(90, south + size))
  }

  private static func size(_ level: Int) -> Double { 22.5 / Double(1 << level) }

  /// The number of cells from pole to pole, both included.
  private static func rows(_ level: Int) -> Int64 { Int64(8 << level) + 1 }

  /// The numbers of the cells that an area may touch; more than `maxCells` if there are more.
  private static func cells(of area: MapArea, level: Int) -> Set<Int64> {
    let perDegree = 1 / size(level)
    var cells: Set<Int64> = []
    for piece in area.pieces {
      guard let bounds = piece.bounds else { continue }
      let columns = Int64((bounds.west + 180) * perDegree)...Int64((bounds.east + 180) * perDegree)
      let rows = Int64((bounds.south + 90) * perDegree)...Int64((bounds.north + 90) * perDegree)
      // Level 0 is never cut off: it has 153 cells.
      for column in columns {
        for row in rows {
          cells.insert(column * Self.rows(level) + row)
          if cells.count > maxCells { return cells }
        }
      }
    }
    return cells
  }

  private static let utc: Calendar = {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = .gmt
    return calendar
  }()

  private static func start(of period: Period, at time: Date) -> Date {
    utc.dateInterval(of: component(period), for: time)?.start ?? time
  }

  private static func end(of period: Period, from start: Date) -> Date {
    utc.date(byAdding: component(period), value: 1, to: start) ?? start
  }

  private static func component(_ period: Period) -> Calendar.Component {
    switch period {
    case .hour: .hour
    case .day: .day
    case .month: .month
    }
  }
}

/// A part of a map with posts in it.
package struct ActivityCell: Sendable, Hashable {
  package let cell: Int64
  package let posts: Int
  /// The mean of the posts' coordinates.
  package let center: Coordinate

  package init(cell: Int64, posts: Int, center: Coordinate) {
    self.cell = cell
    self.posts = posts
    self.center = center
  }
}
