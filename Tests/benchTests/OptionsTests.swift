import Testing

@testable import bench

@Suite("Options of the benchmark")
struct OptionsTests {
  @Test("the names of --only end at the next option")
  func only() throws {
    let options = try Options(["--only", "video.cpu", "video.size", "--pairs", "3", "--write", "docs/b.md"])
    #expect(options.only == ["video.cpu", "video.size"])
    #expect(options.pairs == 3)
    #expect(options.document == "docs/b.md")
  }

  @Test("the default is nine pairs, all figures and no document")
  func defaults() throws {
    let options = try Options([])
    #expect(options.pairs == 9)
    #expect(options.only.isEmpty && options.document == nil)
  }

  @Test("the queue is measured five times by default")
  func queue() throws {
    #expect(try Options(["--queue"]).subject == .queue)
    #expect(try Options(["--queue"]).runs == 5)
    #expect(try Options(["--queue", "--runs", "2"]).runs == 2)
  }

  @Test("the clips are made without a measurement for 'make bench-service'")
  func footage() throws {
    #expect(try Options(["--footage"]).subject == .footage)
    #expect(Options.Subject.footage.target == "bench-service")
  }

  @Test(
    "invalid arguments are errors",
    arguments: [["--pairs", "0"], ["--runs", "0"], ["--pairs"], ["--only"], ["--fast"], ["9"]])
  func invalid(arguments: [String]) {
    #expect(throws: BenchError.self) { try Options(arguments) }
  }
}
