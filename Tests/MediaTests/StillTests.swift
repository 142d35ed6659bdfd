import Kernels
import Media
import MediaFixtures
import Model
import Platform
import Testing

@Suite("A picture out of one clip", .tags(.media))
struct StillTests {
  private static func still(of clip: MarkedClip, at seconds: Double, longEdge: Int? = nil) throws -> (
    StillImage, OutputFacts
  ) {
    let definition = try MomentRun.definition()
    let file = try clip.write()
    let facts = try Prober(limits: definition.limits).probe(file, as: .clip).get()
    let plan = Planner(definition).plan(stillOf: facts, at: seconds, longEdge: longEdge, quality: 90)
    let output = try TemporaryFile.make()
    let report = try PlanRunner(plan).run(inputs: [.clip: file], outputs: [.image: output])
    #expect(report.verdict.reasons == [])
    return (try StillImage(TemporaryFile.bytes(of: output)), try #require(report.outputs.first))
  }

  @Test(
    "shows the frame of its time, whatever the clip's length; past the end the last one",
    arguments: [(0.0, 0), (0.99, 29), (1.0, 30), (6.5, 195), (100, 239)])
  func time(seconds: Double, number: Int) throws {
    let (picture, facts) = try Self.still(of: MarkedClip(.green, seconds: 8), at: seconds)
    #expect(picture.counter == number)
    #expect(picture.color(atX: 0.5, y: 0.2) == .green)
    #expect(facts.type == "image/jpeg" && facts.width == 270 && facts.height == 480)
    #expect(try #require(facts.thumbhash).count >= 24)
  }

  @Test("is at most as large as asked for, and never enlarged")
  func size() throws {
    let (small, _) = try Self.still(of: MarkedClip(.green, seconds: 1), at: 0, longEdge: 240)
    #expect(small.width == 136 && small.height == 240)
    let (full, _) = try Self.still(of: MarkedClip(.green, seconds: 1), at: 0, longEdge: 4000)
    #expect(full.width == 270 && full.height == 480)
  }
}
