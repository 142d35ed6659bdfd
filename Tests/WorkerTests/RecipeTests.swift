import Crypto
import Definitions
import Model
import Testing

@testable import Worker

@Suite("Recipes")
struct RecipeTests {
  private static func recipe<Work: Encodable & Revised>(
    _ plan: Work, _ libraries: [String: String]
  ) throws -> SHA256Digest {
    try Recipe(definition: SHA256.digest(of: Array("definition".utf8)), plan: plan, libraries: libraries).hash
  }

  @Test("the library that measures loudness counts where sound is brought to a loudness, and every other one always")
  func libraries() throws {
    let limits = try Definitions.take5Post().limits
    func plan(_ loudness: Double?) -> Plan {
      let clip = ClipPlan(
        role: .clip, input: .clip, mode: .encode, size: Size(width: 720, height: 1280), video: nil,
        audio: AudioPlan(input: .clip, mode: .encode, loudness: loudness))
      return Plan(definition: "test", version: 1, limits: limits, inputs: [:], clips: [clip], decisions: [])
    }
    let photo = try #require(try Definitions.photo("photo-post")).plan
    let first = ["libavcodec": "1.0.0", "libebur128": "1.2.6"]
    let measuring = ["libavcodec": "1.0.0", "libebur128": "1.2.7"]
    let coding = ["libavcodec": "1.0.1", "libebur128": "1.2.6"]
    let (loud, usual) = (plan(-16), plan(nil))
    #expect(try Self.recipe(loud, first) != Self.recipe(loud, measuring))
    #expect(try Self.recipe(usual, first) == Self.recipe(usual, measuring))
    #expect(try Self.recipe(photo, first) == Self.recipe(photo, measuring))
    #expect(try Self.recipe(loud, first) != Self.recipe(loud, coding))
    #expect(try Self.recipe(usual, first) != Self.recipe(usual, coding))
    #expect(try Self.recipe(photo, first) != Self.recipe(photo, coding))
  }
}
