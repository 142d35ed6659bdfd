import Platform
import Queue
import Store
import Testing

@testable import ChaosTesting

@Suite("Reprocessing in a storm", .tags(.chaos), .timeLimit(.minutes(5)))
struct ReprocessTests {
  @Test("a few posts are made again once each, whoever is killed, and readers see one set or the other")
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
