import BoxTesting
import MediaFixtures
import Model
import Platform
import Testing

/// Clips in which the times of some frames are not in the order of the frames.
@Suite("Frames out of order", .tags(.media))
struct MisplacedFrameTests {
  /// The times of a clip at 30 per second whose intervals differ by some ticks, so that each has an entry of its own in the file's tables.
  private static let times = (0..<150).map { (number: Int) -> Double in
    Double(3000 * number + number * number % 7) / 90_000
  }

  /// A clip with other numbers in a table of entries of two 32-bit numbers (`stts` or `ctts`, ISO/IEC 14496-12, 8.6.1).
  private static func clip(
    isReordered: Bool, _ table: String, change: (inout [(count: UInt32, value: UInt32)]) -> Void
  ) throws -> OpenFile {
    var clip = MarkedClip(.red, times: times, seconds: 5)
    clip.isReordered = isReordered
    var bytes = try TemporaryFile.bytes(of: clip.write())
    let start = try #require(bytes.firstRange(of: Array(table.utf8))).upperBound + 4
    func number(_ offset: Int) -> UInt32 { bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) } }
    var entries = (0..<Int(number(start))).map { index in
      (count: number(start + 4 + 8 * index), value: number(start + 8 + 8 * index))
    }
    change(&entries)
    for (index, entry) in entries.enumerated() {
      let place = start + 4 + 8 * index
      bytes.replaceSubrange(place..<place + 8, with: bigEndian(entry.count) + bigEndian(entry.value))
    }
    return try TemporaryFile.make(bytes)
  }

  /// A clip in which some frames have the time of the frame before.
  static func equal(_ count: Int) throws -> OpenFile {
    try clip(isReordered: false, "stts") { entries in
      for index in entries.indices.dropFirst(10).filter({ $0 % 10 == 0 }).prefix(count) {
        entries[index + 1].value += entries[index].value
        entries[index].value = 0
      }
    }
  }

  /// A clip in which some frames are two seconds late.
  static func late(_ count: Int) throws -> OpenFile {
    try clip(isReordered: true, "ctts") { entries in
      var sample: UInt32 = 0
      var next: UInt32 = 10
      for index in entries.indices {
        if entries[index].count == 1, sample >= next, next < 10 + 12 * UInt32(count) {
          entries[index].value += 180_000
          next += 12
        }
        sample += entries[index].count
      }
    }
  }

  private static func run(_ front: OpenFile) throws -> MomentRun {
    try MomentRun(front: front, back: MarkedClip(.blue).write())
  }

  @Test("are left out, whether they are early or late, as long as they are few", arguments: [1, 5], [false, true])
  func few(count: Int, isLate: Bool) throws {
    let run = try Self.run(isLate ? Self.late(count) : Self.equal(count))
    #expect(run.codes == [], "\(run.report.verdict.reasons)")
    let decision = try #require(run.report.verdict.decisions.first { $0.choice.hasSuffix("left out") })
    #expect(decision.choice == (count == 1 ? "one frame is left out" : "5 frames are left out"))
    // The others are where they were.
    let inset = try #require(run.plan?.composition?.inset)
    var differences: [Int] = []
    var tick = 0
    try run.video(.composed).forEachFrame { frame, _ in
      differences.append(abs(try #require(ComposedFrame(frame, inset: inset).inset) - tick))
      tick += 1
    }
    #expect(differences.count == 150 && differences.count { $0 != 0 } <= count && differences.allSatisfy { $0 <= 1 })
  }

  @Test("are damage if they are many, and the reason says so", arguments: [false, true])
  func many(isLate: Bool) throws {
    let run = try Self.run(isLate ? Self.late(6) : Self.equal(6))
    let reason = try #require(run.report.verdict.reasons.first)
    #expect(run.codes == [.corruptVideo] && reason.input == .front && reason.seconds != nil)
    #expect(
      reason.detail.hasPrefix("The times of more than 5 frames are out of order")
        && reason.detail.hasSuffix("Send the clip again; if it is damaged on the phone too, film again."),
      "\(reason.detail)")
  }
}
