import FoundationEssentials
import Model
import Testing

@testable import take5

@Suite("What is said of jobs")
struct JobFilterTests {
  private func arguments(_ words: [String]) throws -> Arguments {
    try Arguments(words, of: .jobsList, environment: [:])
  }

  @Test("times are RFC 3339 or so long ago")
  func times() throws {
    let now = Date(timeIntervalSince1970: 1_800_000_000)
    for (text, seconds) in [("45s", 45.0), ("30m", 1800), ("2h", 7200), ("7d", 604_800), ("1w", 604_800), ("0s", 0)] {
      #expect(try arguments(["--created-after", text]).time("--created-after", now: now) == now - seconds, "\(text)")
    }
    let exact = try arguments(["--created-after", "2027-01-15T08:00:00Z"]).time("--created-after", now: now)
    #expect(exact == now)
    for wrong in ["yesterday", "2", "h", "-2h", "2y", "1.5h", ""] {
      let wrong = try arguments(["--created-after", wrong])
      #expect(throws: CommandFailure.self) { try wrong.time("--created-after", now: now) }
    }
  }

  @Test("states stand with commas between them")
  func states() throws {
    #expect(try arguments(["--state", "dead,scheduled"]).choices("--state", of: JobState.self) == [.dead, .scheduled])
    #expect(try arguments([]).choices("--state", of: JobState.self).isEmpty)
    let wrong = try arguments(["--state", "dead,,gone"])
    #expect(throws: CommandFailure.self) { try wrong.choices("--state", of: JobState.self) }
  }

  @Test("columns are as wide as they need to be, numbers stand to the right")
  func table() {
    var table = TextTable("NAME", "JOBS")
    table.add("media", "7")
    table.add("a", "1234567")
    #expect(table.lines == ["NAME      JOBS", "media        7", "a      1234567"])
  }

  @Test(
    "spans of time", arguments: [(0.345, "0.35 s"), (42, "42 s"), (303, "5m 3s"), (7800, "2h 10m"), (273_600, "3d 4h")])
  func spans(seconds: Double, text: String) {
    #expect(SpanText.text(seconds) == text)
  }

  @Test("lines are drawn over those before, none longer than the terminal")
  func redrawing() {
    #expect(JobView.redrawing(0, with: ["abc"], width: 80) == "abc\n")
    #expect(JobView.redrawing(2, with: ["abcdef", "x"], width: 4) == "\u{1B}[2A\u{1B}[Jabcd\nx\n")
  }
}
