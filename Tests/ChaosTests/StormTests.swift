import Blobs
import HTTPServer
import HTTPTesting
import Platform
import Postgres
import PostgresTesting
import Queue
import Rooms
import Store
import Testing

@testable import ChaosTesting

@Suite("a small storm over reprocessing", .tags(.chaos), .timeLimit(.minutes(60)))
struct ReprocessTests {
  @Test("posts are reprocessed once each while processes are killed, and readers see consistent assets")
  func slice() async throws {
    try await ChaosFixture.with { fixture in
      var storm = ReprocessStorm(seed: 7)
      storm.posts = 8
      storm.images = 2
      storm.kills = 6
      storm.pause = 50...300
      storm.failpoints = Store.topics.flatMap(\.failpoints) + [any Room.Type].all.failpoints + JobQueue.failpoints
      let report = try await storm.run(on: fixture.run)
      #expect(report.violations == [])
    }
  }
}

@Suite("small storms over a service", .tags(.chaos), .timeLimit(.minutes(60)))
struct ServiceTests {
  @Test("posts are ready although the bucket and calls to the storage hang, and caches lie or are removed")
  func bucket() async throws {
    let bucket = MemoryBucket()
    try await withServer(router: bucket.router) { server in
      try await ChaosFixture.with { fixture in
        var storm = ServiceStorm(seed: 11)
        storm.posts = 15
        storm.faults = 8
        storm.failpoints = Failpoint.blobs
        storm.bucket = (bucket, server.port)
        storm.outageDuration = .seconds(2)
        let report = try await storm.run(on: fixture.run)
        #expect(report.violations == [])
        let faults = report.figures.first { $0.name == "faults" }?.value ?? ""
        for kind in ["storage calls that hang", "bucket hanging", "caches with wrong bytes", "caches removed"] {
          #expect(faults.contains(kind), "\(faults)")
        }
      }
    }
  }

  @Test("posts are ready although the clocks of PostgreSQL and of the workers step back and forward, and owners end")
  func clocks() async throws {
    let folder = try TemporaryFolder(prefix: "take5-owner")
    var storm = OwnerStorm(seed: 3)
    storm.posts = 15
    storm.faults = 6
    storm.limit = .seconds(180)
    let report = try await storm.run(in: folder.path)
    #expect(report.violations == [])
    #expect(report.figures.first { $0.name == "faults" }?.value.contains("steps of a clock") == true)
  }
}

/// Checks of the figures in the documentation.
struct DocumentTests {
  private static let path =
    "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/docs/reliability.md"

  /// Reads the rows between two markers of the document.
  private struct Figures {
    private let rows: [Substring]

    init(_ name: String) throws {
      let text = String(decoding: try Descriptor(reading: DocumentTests.path).contents(), as: UTF8.self)
      let begin = try #require(text.firstRange(of: "<!-- \(name) -->"))
      let end = try #require(text.firstRange(of: "<!-- end of \(name) -->"))
      rows = text[begin.upperBound..<end.lowerBound].split(separator: "\n")
    }

    func has(_ name: String) -> Bool { rows.contains { $0.hasPrefix("| \(name)") } }

    func row(_ name: String) throws -> Substring {
      try #require(rows.first { $0.hasPrefix("| \(name)") }, "\(name)")
    }

    func number(_ name: String) throws -> Int {
      let value = try #require(row(name).split(separator: "|").dropFirst().first)
      return try #require(Int(value.drop { !$0.isNumber }.prefix { $0.isNumber }))
    }
  }

  @Test("the figures have at least 20,000 jobs, 300 faults and 1,000 stored posts, and no violation")
  func figures() throws {
    let figures = try Figures("figures")
    #expect(try figures.number("jobs ") >= 20_000)
    #expect(try figures.number("faults ") >= 300)
    #expect(try figures.row("storm").contains("seed"))
    #expect(try figures.row("lost or done twice").contains("none"))
    #expect(try figures.number("cells with violations") == 0)
    #expect(try figures.row("not ready or published twice").contains("none"))
    #expect(try figures.number("stored") >= 1000 && figures.number("processes killed") >= 100)
    #expect(try figures.row("mixed, missing, made twice or orphaned").contains("none"))
  }

  @Test("the figures of the cluster have at least 5,000 jobs and 200 faults, and nothing wrong")
  func cluster() throws {
    let figures = try Figures("cluster")
    #expect(try figures.number("attempts") >= 5000 && figures.number("faults") >= 200)
    #expect(!figures.has("wrong"))
  }
}
