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
        "b-adapt": 0, "bframes": 1, "mbtree": 1, "rc-lookahead": 10, "scenecut": 0, "vbv-bufsize": 25_000,
        "vbv-maxrate": 20_000,
      ])
    let small = try #require(definition.outputs[.composedSmall]?.rendition)
    #expect(small.from == .composed && small.longEdge == 960 && small.video.x264["vbv-maxrate"] == 1200)
    #expect(definition.outputs[.clipFront]?.clip?.mode == .remuxOrEncode)
    #expect(try JSON.decode(Definition.self, from: JSON.encode(definition)) == definition)
  }

  @Test("a definition has its outputs by role, in the order of plans")
  func roles() throws {
    let definition = try Definitions.take5Post()
    #expect(
      definition.outputs.roles == [
        .composed, .composedSmall, .clipFront, .clipBack, .poster, .image, .thumbnailFront, .thumbnailBack, .preview,
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
      (
        #""composed.small": {"from": "back", "long_edge": 9}"#,
        "outputs.composed.small.from: 'back' is not one of composed"
      ),
      (#""composed.small": {"from": "composed", "long_edge": 9}"#, "outputs.composed.small.video is missing"),
      (#""clip.back": {"mode": "copy"}"#, "outputs.clip.back.mode: 'copy' is not one of remux-or-encode"),
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
      ("\"long_edge\":960", "\"long_edge\":0", "outputs.composed.small.long_edge"),
      ("\"quality\":75", "\"quality\":0", "outputs.thumbnail.back.quality"),
      ("\"seconds\":[4.5,5.5]", "\"seconds\":[4.5,1e300]", "limits.seconds"),
      ("\"attempts\":5", "\"attempts\":0", "attempts"),
      ("\"attempts\":5", "\"attempts\":40000", "attempts"),
      ("\"bytes\":67108864", "\"bytes\":9223372036854775807", "limits.bytes"),
      ("\"pixels\":9437184", "\"pixels\":-1", "limits.pixels"),
      ("\"streams\":16", "\"streams\":0", "limits.streams"),
      ("\"streams\":16", "\"streams\":2147483648", "limits.streams"),
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
      #expect(JSON.reason(error).hasPrefix("\(name): "), "\(JSON.reason(error))")
    }
  }

  @Test("an unknown name is answered by the names that are known, wherever a definition has one")
  func names() throws {
    func reason<Value: Decodable>(_ type: Value.Type, _ text: String) -> String? {
      do {
        _ = try JSON.decode(type, from: Array(text.utf8))
        return nil
      } catch {
        return JSON.reason(error)
      }
    }
    /// Replaces each text of a document, in turn, and returns the errors.
    func reasons<Value: Decodable>(_ type: Value.Type, _ document: String) -> [String] {
      let parts = document.split(separator: "\"", omittingEmptySubsequences: false)
      return stride(from: 1, to: parts.count, by: 2).compactMap { index in
        var changed = parts
        changed[index] = "nonsense"
        return reason(type, changed.joined(separator: "\""))
      }
    }
    let post =
      #"{"moment":{"doubt":"warn"},"window":{"late":"accept","outside":"refuse"},"moderation":"hold","#
      + (try JSON.text(Definitions.take5Post())).dropFirst()
    let photos =
      #"{"moderation":"hold","#
      + (try JSON.text(#require(try Definitions.photo("photo-post")))).dropFirst()
      .replacing("\"quality\"", with: #""format":"avif","quality""#)
    let collection =
      #"{"name":"trip","version":1,"fields":{"day":{"type":"date"}},"items":{"of":"place","max":9,"fields":{}}}"#
    #expect(reason(Definition.self, post) == nil && reason(PhotoDefinition.self, photos) == nil)
    #expect(reason(CollectionDefinition.self, collection) == nil)
    let found =
      reasons(Definition.self, post) + reasons(PhotoDefinition.self, photos)
      + reasons(CollectionDefinition.self, collection)
    for expected in [
      "outputs.composed.inset.corner: 'nonsense' is not one of top-left, top-right, bottom-left, bottom-right",
      "canvas.fit: 'nonsense' is not one of crop, fit",
      "outputs.composed.layout: 'nonsense' is not one of inset, side-by-side, stacked",
      "outputs.composed.audio: 'nonsense' is not one of foreground",
      "outputs.composed.small.from: 'nonsense' is not one of composed",
      "outputs.composed.video.codec: 'nonsense' is not one of h264",
      "outputs.clip.front.mode: 'nonsense' is not one of remux-or-encode",
      "outputs.image.from: 'nonsense' is not one of front, back, composed, clip",
      "inputs: 'nonsense' is not one of front, back, clip, photo",
      "inputs.front.kind: 'nonsense' is not one of video",
      "limits.containers[0]: 'nonsense' is not one of mov, mp4, 3gp, webm",
      "moment.doubt: 'nonsense' is not one of warn, refuse", "window.late: 'nonsense' is not one of accept, refuse",
      "window.outside: 'nonsense' is not one of accept, refuse", "moderation: 'nonsense' is not one of none, hold",
      "limits.formats[0]: 'nonsense' is not one of jpeg, heif, avif, png, webp, gif",
      "metadata: 'nonsense' is not one of strip",
      "variants.photo.large.format: 'nonsense' is not one of jpeg, webp, avif",
      "variants: 'nonsense' is not one of photo.large, photo.medium, photo.small, photo.square, avatar, avatar.small",
      "fields.day.type: 'nonsense' is not one of text, number, date, time, choice, boolean",
      "items.of: 'nonsense' is not one of place, post",
    ] {
      #expect(found.first { $0 == expected } != nil, "\(expected)")
    }
    // Swift's own texts name types.
    for text in ["Cannot initialize", "Could not convert"] {
      #expect(found.first { $0.contains(text) } == nil)
    }
  }

  @Test("clips may be trimmed to a time that they may last, and a definition without one is stored as before")
  func trimming() throws {
    let text = try JSON.text(Definitions.take5Post())
    #expect(!text.contains("trim"))
    func definition(_ trim: String, seconds: String = "[4.5,60]") throws -> Definition {
      let changed = text.replacing("\"seconds\":[4.5,5.5]", with: "\"seconds\":\(seconds),\"trim_seconds\":\(trim)")
      return try JSON.decode(Definition.self, from: Array(changed.utf8))
    }
    let limits = try definition("5").limits
    #expect(limits.trimSeconds == 5 && limits.used(of: 7) == 5 && limits.used(of: 4.6) == 4.6)
    #expect(limits.usedSeconds == SecondsRange(shortest: 4.5, longest: 5))
    #expect(try definition("4.5").limits.usedSeconds == SecondsRange(shortest: 4.25, longest: 4.5))
    #expect(try definition("null").limits.usedSeconds == SecondsRange(shortest: 4.5, longest: 60))
    #expect(try JSON.decode(Definition.self, from: JSON.encode(definition("5"))).limits == limits)
    for (trim, seconds) in [("4", "[4.5,60]"), ("61", "[4.5,60]"), ("0", "[0,60]"), ("-1", "[0,60]"), ("5", "null")] {
      do {
        _ = try definition(trim, seconds: seconds)
        Issue.record("\(trim) s of \(seconds) is accepted")
      } catch {
        #expect(JSON.reason(error) == "limits.trim_seconds: expected a time in the range of 'seconds'")
      }
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
