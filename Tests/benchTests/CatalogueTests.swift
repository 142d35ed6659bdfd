import Definitions
import Model
import Testing

@testable import bench

@Suite("Catalogue of measurements")
struct CatalogueTests {
  @Test("the fourteen figures have the documented names and goals")
  func figures() throws {
    let figures = try Catalogue(Definitions.take5Post()).figures.map(\.figure)
    let expected: [(String, Goal?)] = [
      ("video.cpu.same_settings_1080.vs_ffmpeg", .atMost(0.92)),
      ("video.cpu.same_settings_720.vs_ffmpeg", .atMost(0.80)),
      ("video.cpu.shipped.vs_ffmpeg", .atMost(0.70)), ("video.cpu.shipped.vs_naive", .atMost(0.50)),
      ("video.cpu.vs_limit", .atMost(1.05)), ("video.memory.vs_ffmpeg", .atMost(0.60)),
      ("video.wall.latency_mode.vs_ffmpeg", .atMost(0.65)), ("video.jobs_per_minute.two_workers.vs_one", nil),
      ("video.ssim.shipped_minus_veryfast", .atLeast(0)), ("video.size.vs_veryfast", .atMost(1.27)),
      ("video.walls.cpu.vs_off", .atMost(1.02)), ("video.walls.latency.minus_off", .atMost(15)),
      ("video.walls.fork_cpu.vs_start", .atMost(1)), ("video.walls.fork_elapsed.vs_start", .atMost(1)),
    ]
    #expect(figures.map(\.name) == expected.map(\.0))
    #expect(figures.map(\.goal) == expected.map(\.1))
  }

  @Test("a selection takes names by prefix and throws for an unknown name")
  func selection() throws {
    let catalogue = try Catalogue(Definitions.take5Post())
    let (figures, observations) = try catalogue.selected(["video.cpu", "video.kernel.halved.gradients_vs_bicubic"])
    #expect(figures.count == 5)
    #expect(observations.map(\.figure.name) == ["video.kernel.halved.gradients_vs_bicubic"])
    #expect(try catalogue.selected([]).figures.count == catalogue.figures.count)
    #expect(throws: BenchError.self) { try catalogue.selected(["audio"]) }
  }

  @Test("the names of measurements are unique")
  func names() throws {
    let names = try Catalogue(Definitions.take5Post()).names
    #expect(Set(names).count == names.count)
  }
}

@Suite("Variants of the measured definition")
struct DefinitionVariantsTests {
  @Test("a comparable definition has the outputs of the contestants and the shipped encoding")
  func comparable() throws {
    let shipped = try Definitions.take5Post()
    let definition = try shipped.comparable()
    #expect(definition.outputs.roles == [.composed, .poster, .thumbnailFront, .thumbnailBack])
    #expect(definition.outputs[.composed] == shipped.outputs[.composed])
    #expect(definition.canvas == shipped.canvas)
    // `take5 compose` reads it from a file.
    #expect(try JSON.decode(Definition.self, from: JSON.encode(definition)) == definition)
  }

  @Test("a smaller canvas scales the margin and the corner radius of the inset")
  func scaled() throws {
    let small = try Definitions.take5Post().comparable().scaled(toWidth: 720)
    #expect(small.canvas.size == Size(width: 720, height: 1280))
    #expect(small.outputs[.composed]?.composed?.inset.margin == 24)
    #expect(small.outputs[.composed]?.composed?.inset.radius == 24)
    #expect(small.outputs[.composed]?.composed?.inset.width == 0.3)
  }

  @Test("variants with different outputs have different names")
  func names() throws {
    let shipped = try Definitions.take5Post().comparable()
    let others = [
      shipped.scaled(toWidth: 720), shipped.encoded(Definition.VideoEncoding(preset: "veryfast", crf: 23)),
      shipped.encoded(Definition.VideoEncoding(preset: "veryfast", crf: 23.5)),
    ]
    #expect(Set([shipped.variant] + others.map(\.variant)).count == 4)
  }
}
