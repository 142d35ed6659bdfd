import Platform
import Queue
import Store
import Testing

@testable import ChaosTesting

@Suite("a small storm over reprocessing", .tags(.chaos), .timeLimit(.minutes(15)))
struct ReprocessTests {
  @Test("posts are reprocessed once each while processes are killed, and readers see consistent assets")
  func slice() async throws {
    try await ChaosFixture.with { fixture in
      var configuration = ReprocessStorm.Configuration(seed: 7)
      configuration.posts = 8
      configuration.images = 2
      configuration.kills = 6
      configuration.pause = 50...300
      configuration.failpoints = Store.failpoints + JobQueue.failpoints
      let report = try await ReprocessStorm(configuration, on: fixture.run).run()
      #expect(report.violations == [])
      #expect(report.killed >= 6 && report.readMedia > 0)
    }
  }
}

/// Checks of the figures in the documentation.
struct DocumentTests {
  private static let path =
    "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/docs/reliability.md"

  @Test("the figures have at least 20,000 jobs, 300 faults and 1,000 stored posts, and no violation")
  func figures() throws {
    let text = String(decoding: try Descriptor(reading: Self.path).contents(), as: UTF8.self)
    func row(_ name: String) throws -> Substring {
      try #require(text.split(separator: "\n").first { $0.hasPrefix("| \(name)") }, "\(name)")
    }
    func number(_ name: String) throws -> Int {
      let value = try #require(row(name).split(separator: "|").dropFirst().first)
      return try #require(Int(value.drop { !$0.isNumber }.prefix { $0.isNumber }))
    }
    #expect(try number("jobs ") >= 20_000)
    #expect(try number("faults ") >= 300)
    #expect(try row("storm").contains("seed"))
    #expect(try row("lost or done twice").contains("none"))
    #expect(try number("cells with violations") == 0)
    #expect(try row("not ready or published twice").contains("none"))
    #expect(try number("stored") >= 1000 && number("processes killed") >= 100)
    #expect(try row("mixed, missing, made twice or orphaned").contains("none"))
  }
}
