import Definitions
import Model
import Testing

@Suite("Definitions")
struct DefinitionTests {
  @Test("the built-in definition of posts has the documented values")
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

  @Test("invalid ranges of durations are rejected", arguments: ["[5, 4]", "[1]", "[1, 2, 3]", "[-1, 2]"])
  func invalidRanges(text: String) {
    #expect(throws: DecodingError.self) { try JSON.decode(ClosedSeconds.self, from: Array(text.utf8)) }
  }

  @Test("colours are parsed as #RRGGBB only")
  func colors() {
    #expect(RGBColor("#FF8001") == RGBColor(red: 255, green: 128, blue: 1))
    #expect(RGBColor("#ff8001")?.description == "#FF8001")
    for text in ["FF8001", "#FF80", "#GG8001", "#+F8001", "#FF80012"] { #expect(RGBColor(text) == nil) }
  }

  @Test("a definition with an unsupported codec is rejected")
  func definitions() throws {
    let definition = try Definitions.take5Post()
    var text = try JSON.text(definition)
    #expect(try JSON.decode(Definition.self, from: Array(text.utf8)) == definition)
    text = text.replacing("\"hevc\"", with: "\"magicyuv\"")
    #expect(throws: DecodingError.self) { try JSON.decode(Definition.self, from: Array(text.utf8)) }
  }
}
