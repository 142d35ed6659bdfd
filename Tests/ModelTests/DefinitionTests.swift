import Definitions
import Model
import Testing

@Suite("Definitions")
struct DefinitionTests {
  @Test("the built-in definition of posts has the documented values")
  func builtIn() throws {
    let definition = try Definitions.take5Post()
    #expect(definition.name == "take5-post")
    #expect(definition.limits.seconds == SecondsRange(shortest: 4.5, longest: 5.5))
    #expect(definition.limits.containers == [.mov, .mp4, .threeGP])
    #expect(
      definition.outputs[.composed]?.composed?.video.x264 == [
        "b-adapt": 0, "bframes": 1, "mbtree": 1, "rc-lookahead": 10, "scenecut": 0,
      ])
    #expect(definition.outputs[.clipFront]?.clip?.mode == .remuxOrEncode)
    #expect(try JSON.decode(Definition.self, from: JSON.encode(definition)) == definition)
  }

  @Test("a definition has its outputs by role, in the order of plans")
  func roles() throws {
    let definition = try Definitions.take5Post()
    #expect(
      definition.outputs.roles == [
        .composed, .clipFront, .clipBack, .poster, .image, .thumbnailFront, .thumbnailBack, .preview,
      ])
    #expect(definition.madeRoles == definition.outputs.roles)
    #expect(definition.outputs[.composedSwapped] == nil)
  }

  @Test(
    "an output of another kind, or with a wrong value, is an error that names its path",
    arguments: [
      (#""poster": {}"#, "outputs.poster.from is missing"),
      (#""poster": 5"#, "outputs.poster: "),
      (#""preview": {"from": "back", "at": 0, "quality": 1}"#, "outputs.preview.seconds is missing"),
      (#""composed": {"from": "back", "at": 0, "long_edge": 9, "quality": 1}"#, "outputs.composed.layout is missing"),
      (#""clip.back": {"mode": "copy"}"#, "outputs.clip.back.mode: "),
      (
        #""thumbnail.front": {"from": "front", "at": 0, "quality": 1, "long_edge": "9"}"#,
        "outputs.thumbnail.front.long_edge: "
      ),
    ])
  func malformedOutputs(text: String, reason: String) throws {
    do {
      _ = try Self.outputs(text)
      Issue.record("decoded")
    } catch {
      #expect(JSON.reason(error).hasPrefix(reason), "\(JSON.reason(error))")
    }
  }

  @Test(
    "null, and a key that is not the role of an output, add no output",
    arguments: ["", #""poster": null"#, #""postr": {}"#, #""source.front": {}, "photo.large": 5"#])
  func noOutputs(text: String) throws {
    let outputs = try Self.outputs(text)
    #expect(outputs.roles.isEmpty)
    #expect(try JSON.text(outputs) == "{}")
  }

  /// Decodes outputs where a definition has them.
  private static func outputs(_ members: String) throws -> Definition.Outputs {
    struct Part: Decodable { let outputs: Definition.Outputs }
    return try JSON.decode(Part.self, from: Array(#"{"outputs": {\#(members)}}"#.utf8)).outputs
  }

  @Test("invalid ranges of durations are rejected", arguments: ["[5, 4]", "[1]", "[1, 2, 3]", "[-1, 2]"])
  func invalidRanges(text: String) {
    #expect(throws: DecodingError.self) { try JSON.decode(SecondsRange.self, from: Array(text.utf8)) }
  }

  @Test(
    "a number that arithmetic could not bear is rejected with its name",
    arguments: [
      ("\"width\":1080", "\"width\":0", "canvas.width"),
      ("\"width\":1080", "\"width\":9223372036854775807", "canvas.width"),
      ("\"frames_per_second\":30", "\"frames_per_second\":0", "canvas.frames_per_second"),
      ("\"width\":0.3", "\"width\":1e300", "outputs.composed.inset.width"),
      ("\"margin\":36", "\"margin\":9223372036854775807", "outputs.composed.inset.margin"),
      ("\"seconds\":2", "\"seconds\":1e300", "outputs.preview.seconds"),
      ("\"long_edge\":720", "\"long_edge\":-9223372036854775808", "outputs.image.long_edge"),
      ("\"quality\":75", "\"quality\":0", "outputs.thumbnail.back.quality"),
      ("\"seconds\":[4.5,5.5]", "\"seconds\":[4.5,1e300]", "limits.seconds"),
      ("\"deadline_seconds\":120", "\"deadline_seconds\":9223372036854775807", "deadline_seconds"),
    ])
  func numbers(valid: String, invalid: String, name: String) throws {
    let text = try JSON.text(Definitions.take5Post())
    #expect(text.contains(valid))
    let changed = text.replacing(valid, with: invalid, maxReplacements: 1)
    do {
      _ = try JSON.decode(Definition.self, from: Array(changed.utf8))
      Issue.record("decoded")
    } catch {
      #expect(JSON.reason(error).hasPrefix("\(name) is "), "\(JSON.reason(error))")
    }
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
