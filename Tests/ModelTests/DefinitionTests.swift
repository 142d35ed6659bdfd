import Definitions
import Model
import Testing

@Suite("Definitions")
struct DefinitionTests {
  @Test("the built-in definition reads, and says what the service promises")
  func builtIn() throws {
    let definition = try Definitions.take5Post()
    #expect(definition.name == "take5-post")
    #expect(definition.limits.seconds == ClosedSeconds(shortest: 4.5, longest: 5.5))
    #expect(definition.limits.containers == [.mov, .mp4, .threeGP])
    #expect(
      definition.outputs.composed?.video.x264 == [
        "b-adapt": 0, "bframes": 1, "mbtree": 1, "rc-lookahead": 10, "scenecut": 0,
      ])
    #expect(definition.outputs.clipFront?.mode == .remuxOrEncode)
    #expect(try JSON.decode(Definition.self, from: JSON.encode(definition)) == definition)
  }

  @Test("spans out of order are refused", arguments: ["[5, 4]", "[1]", "[1, 2, 3]", "[-1, 2]"])
  func spans(text: String) {
    #expect(throws: DecodingError.self) { try JSON.decode(ClosedSeconds.self, from: Array(text.utf8)) }
  }
}
