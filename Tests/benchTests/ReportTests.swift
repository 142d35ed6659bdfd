import Glibc
import Platform
import Testing

@testable import bench

@Suite("Report")
struct ReportTests {
  private static let section = MarkedSection(target: "bench-video")

  private static let report = Report(
    machine: Machine(date: "2026-01-02", processor: "a processor", cores: 2, system: "Debian 12.11", load: nil),
    pairs: 3,
    figures: [
      Finding(
        Figure("a.ratio", "what it is", .atMost(0.92)), [0.95, 0.90, 0.91],
        details: [Finding.Detail("ours, CPU s", [4, 5, 6], decimals: 2)]),
      Finding(Figure("a.difference", "what else", .atLeast(0), decimals: 5), [-0.00065], details: []),
      Finding(Figure("a.rate", "without a goal"), [1.5], details: []),
    ],
    observations: [Finding(Figure("b.seen", "an observation"), [0.5], details: [])])

  @Test("programs read a line for each figure, and for nothing else")
  func lines() {
    let lines = Self.report.text.split(separator: "\n").filter { $0.hasPrefix("figure ") }
    #expect(lines == ["figure a.ratio 0.910", "figure a.difference -0.00065", "figure a.rate 1.500"])
  }

  @Test("what misses its goal is said, and nothing else")
  func misses() throws {
    let misses = try #require(Self.report.misses)
    #expect(misses.contains("1 OF 2 GOALS MISSED"))
    #expect(misses.contains("a.difference: -0.00065, but the goal is at least 0.00"))
    #expect(!misses.contains("a.ratio"))
  }

  @Test("the documents get a row for each, with its spread, its goal and what it comes from")
  func markdown() {
    let lines = Self.report.markdown.split(separator: "\n").map(String.init)
    #expect(lines.contains("2026-01-02, 2 cores of a processor, Debian 12.11; 3 pairs."))
    #expect(lines.contains("| `a.ratio` | at most 0.92 | 0.910 | 0.900 | 0.950 | met | ours, CPU s: 5.00 |"))
    #expect(lines.contains { $0.hasPrefix("| `a.difference` | at least 0.00 | -0.00065 |") && $0.contains("missed") })
    #expect(lines.contains { $0.hasPrefix("| `b.seen` | an observation | 0.500 |") })
  }

  @Test("a document keeps everything but what stands between its marks")
  func section() throws {
    let path = "/tmp/take5-bench-test-\(UInt64.random(in: .min ... .max)).md"
    defer { unlink(path) }
    func write(_ text: String) throws { try Descriptor(writing: path, replacing: true).write(Array(text.utf8)) }
    func read() throws -> String { String(decoding: try Descriptor(reading: path).contents(), as: UTF8.self) }

    try write("before\n\(Self.section.begin)\nold\n\(Self.section.end)\nafter\n")
    try Self.section.replace("new", in: path)
    try Self.section.replace("newer", in: path)
    #expect(try read() == "before\n\(Self.section.begin)\nnewer\n\(Self.section.end)\nafter\n")
    #expect(try Self.section.inside(path) == "\nnewer\n")

    try write("no marks\n")
    #expect(throws: BenchError.self) { try Self.section.replace("new", in: path) }
    #expect(try read() == "no marks\n")
  }
}
