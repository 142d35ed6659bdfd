internal import Model
internal import Postgres
import SeededRandom
internal import Store

/// A frequent query of apps.
enum ReadingShape: String, CaseIterable, Sendable {
  case newest
  case author
  case place
  case calendar
  case box
  case polygon

  /// A short description.
  var meaning: String {
    switch self {
    case .newest: "the newest posts of all authors"
    case .author: "a page of an author's posts from a random time"
    case .place: "the posts of a place"
    case .calendar: "a month in an author's calendar"
    case .box: "the posts of a day in a box of the map"
    case .polygon: "the posts of a day in a polygon of eight corners"
    }
  }

  /// Returns the plan of one such query with random values.
  func plan(
    of data: ReadingData, store: Store, random: inout SplitMix64, _ session: Session
  ) throws -> [String] {
    var filter = PostFilter(visibilities: [.public])
    switch self {
    case .newest: break
    case .author:
      filter.authors = [data.author(&random)]
      filter.to = data.time(&random)
    case .place: filter.place = data.place(&random)
    case .calendar:
      return try store.explain(
        calendarOf: data.author(&random), for: .unrestricted, month: data.month(&random), zone: "Europe/Berlin",
        session)
    case .box, .polygon:
      filter.from = data.time(&random)
      filter.to = filter.from.map { $0 + 86_400_000_000 }
      filter.area = self == .box ? data.box(&random) : data.polygon(&random)
    }
    return try store.explain(filter, for: .unrestricted, PageRequest(), session)
  }
}

/// The cost of one query, from its plan.
struct ReadingCost: Sendable {
  let milliseconds: Double
  /// The number of returned rows.
  let rows: Int
  /// The pages of 8 KiB that the query touched, cached or not.
  let buffers: Int
  /// The indexes and tables that the plan scans.
  let access: String

  /// Reads the output of `EXPLAIN (ANALYZE, BUFFERS)` in text format, for one or more statements of one query.
  init(plan lines: [String]) throws {
    var (time, rows, buffers) = (0.0, 0, 0)
    var access: Set<String> = []
    var isTop = true
    var hasBuffers = false
    for line in lines {
      let words = line.split(separator: " ")
      if isTop, let actual = line.firstRange(of: "actual rows=") {
        rows += Int(line[actual.upperBound...].prefix { $0.isNumber }) ?? 0
        isTop = false
      }
      if !hasBuffers, words.first == "Buffers:" {
        buffers += words.dropFirst().compactMap { Int($0.split(separator: "=").last ?? "") }.reduce(0, +)
        hasBuffers = true
      }
      if let scan = line.firstRange(of: "Scan") {
        let name = line[scan.upperBound...].split(separator: " ")
        if let index = name.firstIndex(of: "using") ?? name.firstIndex(of: "on"), index + 1 < name.count {
          access.insert(String(name[index + 1]))
        }
      }
      if words.starts(with: ["Execution", "Time:"]), let milliseconds = Double(words[2]) {
        time += milliseconds
        (isTop, hasBuffers) = (true, false)
      }
    }
    guard time > 0 else { throw BenchError("not the plan of a query: \(lines.first ?? "")") }
    milliseconds = time
    self.rows = rows
    self.buffers = buffers
    self.access = access.subtracting(["post"]).sorted().joined(separator: ", ")
  }
}
