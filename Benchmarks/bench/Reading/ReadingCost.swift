/// What one question cost the database.
struct ReadingCost: Sendable {
  let milliseconds: Double
  /// Rows that it gave.
  let rows: Int
  /// Pages of 8 KiB that it touched, in memory or not.
  let buffers: Int
  /// What it found the rows by, in the plan's own words.
  let access: String

  /// Reads plans of EXPLAIN (ANALYZE, BUFFERS) in text form, of the pieces of one question.
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
    guard time > 0 else { throw BenchError("this is no plan: \(lines.first ?? "")") }
    milliseconds = time
    self.rows = rows
    self.buffers = buffers
    self.access = access.subtracting(["post"]).sorted().joined(separator: ", ")
  }
}
