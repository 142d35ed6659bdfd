import FoundationEssentials
import Glibc
import Model
import Platform

/// The result of one range of seeds: a line of a file of records. A range that has a line is not run again.
package struct RangeRecord: Codable, Sendable {
  /// What was run: `parsers`, or `pipeline` with the width of its canvas.
  package let part: String
  package let start: UInt64
  package let end: UInt64
  /// The day of the end, `YYYY-MM-DD`.
  package let date: String
  package let seconds: Double
  package let tally: Tally
  /// The largest growth of memory in bytes, of this process and of the fork server.
  package let growth: [Int]

  package init(part: String, seeds: Range<UInt64>, seconds: Double, tally: Tally, growth: [Int]) {
    self.part = part
    (start, end) = (seeds.lowerBound, seeds.upperBound)
    date = String(JSON.text(of: .now).prefix(10))
    self.seconds = seconds
    self.tally = tally
    self.growth = growth
  }

  /// Reads the records of a file; none if it does not exist.
  package static func read(_ path: String) throws -> [RangeRecord] {
    guard access(path, F_OK) == 0 else { return [] }
    return try Descriptor(reading: path).contents().split(separator: UInt8(ascii: "\n")).map { line in
      try JSON.decode(RangeRecord.self, from: Array(line))
    }
  }

  /// Appends this record to a file.
  package func append(to path: String) throws {
    let number = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    guard number >= 0 else { throw SystemError(call: "open", subject: path) }
    try Descriptor(owning: number).write(JSON.encode(self) + Array("\n".utf8))
  }
}
