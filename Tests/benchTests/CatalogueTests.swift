import Definitions
import Testing

@testable import bench

@Suite("What is measured")
struct CatalogueTests {
  @Test("the ten figures have their names and their goals")
  func figures() throws {
    let figures = try Catalogue(Definitions.take5Post()).figures.map(\.figure)
    let expected: [(String, Goal?)] = [
      ("video.cpu.same_settings_1080.vs_ffmpeg", .atMost(0.92)),
      ("video.cpu.same_settings_720.vs_ffmpeg", .atMost(0.80)),
      ("video.cpu.shipped.vs_ffmpeg", .atMost(0.70)), ("video.cpu.shipped.vs_naive", .atMost(0.50)),
      ("video.cpu.vs_limit", .atMost(1.05)), ("video.memory.vs_ffmpeg", .atMost(0.60)),
      ("video.wall.latency_mode.vs_ffmpeg", .atMost(0.65)), ("video.jobs_per_minute.two_workers.vs_one", nil),
      ("video.ssim.shipped_minus_veryfast", .atLeast(0)), ("video.size.vs_veryfast", .atMost(1.27)),
    ]
    #expect(figures.map(\.name) == expected.map(\.0))
    #expect(figures.map(\.goal) == expected.map(\.1))
  }

  @Test("a selection takes what begins so, and nothing that there is not")
  func selection() throws {
    let catalogue = try Catalogue(Definitions.take5Post())
    let (figures, observations) = try catalogue.selected(["video.cpu", "video.kernel.halved.gradients_vs_bicubic"])
    #expect(figures.count == 5)
    #expect(observations.map(\.figure.name) == ["video.kernel.halved.gradients_vs_bicubic"])
    #expect(try catalogue.selected([]).figures.count == catalogue.figures.count)
    #expect(throws: BenchError.self) { try catalogue.selected(["audio"]) }
  }

  @Test("no two measurements have one name")
  func names() throws {
    let names = try Catalogue(Definitions.take5Post()).names
    #expect(Set(names).count == names.count)
  }
}
