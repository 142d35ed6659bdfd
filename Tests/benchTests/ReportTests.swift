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

  @Test("the text contains one line for each figure and none for observations")
  func lines() {
    let lines = Self.report.text.split(separator: "\n").filter { $0.hasPrefix("figure ") }
    #expect(lines == ["figure a.ratio 0.910", "figure a.difference -0.00065", "figure a.rate 1.500"])
  }

  @Test("only figures that miss their goal are listed as misses")
  func misses() throws {
    let misses = try #require(Self.report.misses)
    #expect(misses.contains("1 OF 2 GOALS MISSED"))
    #expect(misses.contains("a.difference: -0.00065, but the goal is at least 0.00"))
    #expect(!misses.contains("a.ratio"))
  }

  @Test("the Markdown has a row for each finding with its goal, range and details")
  func markdown() {
    let lines = Self.report.markdown.split(separator: "\n").map(String.init)
    #expect(lines.contains("2026-01-02, 2 cores of a processor, Debian 12.11; 3 pairs."))
    #expect(lines.contains("| `a.ratio` | at most 0.92 | 0.910 | 0.900 | 0.950 | met | ours, CPU s: 5.00 |"))
    #expect(lines.contains { $0.hasPrefix("| `a.difference` | at least 0.00 | -0.00065 |") && $0.contains("missed") })
    #expect(lines.contains { $0.hasPrefix("| `b.seen` | an observation | 0.500 |") })
  }

  @Test("replacing a section changes only the text between the markers")
  func section() throws {
    let path = "/tmp/take5-bench-test-\(UInt64.random(in: .min ... .max)).md"
    defer { unlink(path) }
    func write(_ text: String) throws { try Descriptor(writing: path, replacing: true).write(Array(text.utf8)) }
    func read() throws -> String { String(decoding: try Descriptor(reading: path).contents(), as: UTF8.self) }

    try write("before\n\(Self.section.begin)\nold\n\(Self.section.end)\nafter\n")
    try Self.section.replace("new", in: path)
    try Self.section.replace("newer", in: path)
    #expect(try read() == "before\n\(Self.section.begin)\nnewer\n\(Self.section.end)\nafter\n")
    #expect(try Self.section.content(of: path) == "\nnewer\n")

    try write("no markers\n")
    #expect(throws: BenchError.self) { try Self.section.replace("new", in: path) }
    #expect(try read() == "no markers\n")
  }
}

@Suite("Statistics and numbers")
struct StatisticsTests {
  @Test(
    "the median is the middle value or the mean of the two in the middle",
    arguments: [([3], 3), ([9, 1, 4], 4), ([1, 10, 2, 4], 3)] as [([Double], Double)])
  func median(values: [Double], median: Double) {
    let statistics = Statistics(values)
    #expect(statistics.median == median)
    #expect(statistics.min == values.min())
    #expect(statistics.max == values.max())
  }

  @Test(
    "a percentile is the smallest value that enough values do not exceed",
    arguments: [(50, 200), (95, 380), (99, 396), (100, 400), (0, 1)] as [(Int, Double)])
  func percentile(percent: Int, number: Double) {
    #expect(Statistics((1...400).reversed().map(Double.init)).percentile(percent) == number)
    #expect(Statistics([7]).percentile(percent) == 7)
  }

  @Test(
    "numbers are rounded and keep trailing zeros",
    arguments: [
      (0.9996, 3, "1.000"), (-0.00065, 5, "-0.00065"), (-0.0001, 3, "0.000"), (12.05, 1, "12.1"), (7.5, 0, "8"),
      (-1.5, 2, "-1.50"),
    ] as [(Double, Int, String)])
  func text(number: Double, decimals: Int, text: String) {
    #expect(number.text(decimals: decimals) == text)
  }

  @Test("a value equal to the limit meets the goal")
  func goals() {
    #expect(Goal.atMost(0.92).isMet(by: 0.92))
    #expect(!Goal.atMost(0.92).isMet(by: 0.921))
    #expect(Goal.atLeast(0).isMet(by: 0))
    #expect(!Goal.atLeast(0).isMet(by: -0.00001))
  }
}
