import Definitions
import Model
import Testing

@Suite("Canonical JSON")
struct CanonicalJSONTests {
  private static func canonical(_ text: String) throws -> String {
    String(decoding: try JSON.canonical(Array(text.utf8)), as: UTF8.self)
  }

  @Test("the example of RFC 8785, section 3.2.2")
  func example() throws {
    let text = #"""
      {
        "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
      }
      """#
    #expect(
      try Self.canonical(text)
        == #"{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"#
        + #""string":"€$\u000f\nA'B\"\\\\\"/"}"#)
  }

  @Test("members have the order of RFC 8785, section 3.2.3: by UTF-16 code units")
  func order() throws {
    let text = #"""
      {"\u20ac": "Euro", "\r": "CR", "\ufb33": "Dalet", "1": "One", "\ud83d\ude00": "Face", "\u0080": "Control",
        "\u00f6": "O"}
      """#
    #expect(
      try Self.canonical(text) == "{\"\\r\":\"CR\",\"1\":\"One\",\"\u{80}\":\"Control\",\"ö\":\"O\",\"€\":\"Euro\","
        + "\"😀\":\"Face\",\"\u{FB33}\":\"Dalet\"}")
  }

  @Test(
    "numbers have the text of RFC 8785, appendix B",
    arguments: [
      (0x0000_0000_0000_0000, "0"), (0x8000_0000_0000_0000, "0"), (0x0000_0000_0000_0001, "5e-324"),
      (0x8000_0000_0000_0001, "-5e-324"), (0x7FEF_FFFF_FFFF_FFFF, "1.7976931348623157e+308"),
      (0xFFEF_FFFF_FFFF_FFFF, "-1.7976931348623157e+308"), (0x4340_0000_0000_0000, "9007199254740992"),
      (0xC340_0000_0000_0000, "-9007199254740992"), (0x4430_0000_0000_0000, "295147905179352830000"),
      (0x44B5_2D02_C7E1_4AF5, "9.999999999999997e+22"), (0x44B5_2D02_C7E1_4AF6, "1e+23"),
      (0x44B5_2D02_C7E1_4AF7, "1.0000000000000001e+23"), (0x444B_1AE4_D6E2_EF4E, "999999999999999700000"),
      (0x444B_1AE4_D6E2_EF4F, "999999999999999900000"), (0x444B_1AE4_D6E2_EF50, "1e+21"),
      (0x3EB0_C6F7_A0B5_ED8C, "9.999999999999997e-7"), (0x3EB0_C6F7_A0B5_ED8D, "0.000001"),
      (0x41B3_DE43_5555_5553, "333333333.3333332"), (0x41B3_DE43_5555_5554, "333333333.33333325"),
      (0x41B3_DE43_5555_5555, "333333333.3333333"), (0x41B3_DE43_5555_5556, "333333333.3333334"),
      (0x41B3_DE43_5555_5557, "333333333.33333343"), (0xBECB_F647_612F_3696, "-0.0000033333333333333333"),
      (0x4314_3FF3_C1CB_0959, "1424953923781206.2"),
    ] as [(UInt64, String)])
  func numbers(bits: UInt64, text: String) throws {
    #expect(try Self.canonical(JSON.text([Double(bitPattern: bits)])) == "[\(text)]")
  }

  @Test("strings escape quotation marks, backslashes and control characters")
  func strings() throws {
    let text = "\u{1}\u{8}\t\n\u{B}\u{C}\r\u{1F} \"\\/\u{7F}\u{2028}é😀"
    let json = #""\u0001\b\t\n\u000b\f\r\u001f \"\\/"# + "\u{7F}\u{2028}é😀\""
    #expect(try Self.canonical(JSON.text(text)) == json)
    #expect(try JSON.text(text) == json)
  }

  @Test(
    "where the encoder writes other bytes, the canonical form follows RFC 8785",
    arguments: [(1e-5, "0.00001"), (1e16, "10000000000000000"), (1.5e-7, "1.5e-7"), (-0.0, "0")])
  func differences(number: Double, text: String) throws {
    #expect(try Self.canonical(JSON.text(number)) == text)
    #expect(try JSON.text(number) != text)
  }

  @Test("integers above 2^53 are not rounded")
  func integers() throws {
    #expect(try Self.canonical("[9007199254740993,-9223372036854775808]") == "[9007199254740993,-9223372036854775808]")
  }

  @Test(
    "malformed text is an error",
    arguments: [
      "", "[1", "[1}", #"{"a" 1}"#, "{1:2}", #""a"#, "nul", "1 2", #""\u1"#, #""\ud83d\ude0"#,
      String(repeating: "[", count: 100_000),
    ])
  func malformed(text: String) {
    #expect(throws: DecodingError.self) { try Self.canonical(text) }
  }

  // A hash of the canonical form must equal the hash of the text that was encoded when it was stored.
  @Test("built-in definitions are encoded in the canonical form")
  func definitions() throws {
    for definition in [try Definitions.take5Post(), try Definitions.markerVideo()] {
      #expect(try JSON.canonical(JSON.encode(definition)) == JSON.encode(definition), "\(definition.name)")
    }
    for definition in try Definitions.photos().values {
      #expect(try JSON.canonical(JSON.encode(definition)) == JSON.encode(definition), "\(definition.name)")
      #expect(try JSON.canonical(JSON.encode(definition.plan)) == JSON.encode(definition.plan), "\(definition.name)")
    }
  }

  @Test(
    "plans are encoded in the canonical form",
    arguments: [
      5.005, 1_791_374_400.123, 29.97002997002997, 0.0001, 30, 1_791_374_400, 0.1 + 0.2, 4.966666666666667, 0.001,
      4_294_967_295.999, 0,
    ] as [Double])
  func plans(number: Double) throws {
    for (codec, audio) in [("h264", PlannerTests.facts().audio), ("hevc", nil)] {
      var facts = PlannerTests.facts(codec: codec, audio: audio)
      facts.duration = number
      facts.recorded = number
      facts.video.framesPerSecond = number
      facts.video.sampleAspectRatio = number
      facts.video.editEnd = number
      facts.video.dwells = [SecondsRange(shortest: 0, longest: number)]
      facts.video.transform = Transform(rotation: .threeQuarters, mirrored: true)
      facts.identifying = [IdentifyingMetadata(kind: .place, key: "©xyz")]
      let post = try Definitions.take5Post()
      for plan in [
        Planner(post).plan(front: facts, back: facts, foreground: .back),
        Planner(try Definitions.markerVideo()).plan(clip: facts),
        Planner(post).plan(stillOf: facts, at: number, longEdge: nil, quality: 85),
        Planner(post).plan(inspecting: facts),
      ] {
        let text = try JSON.encode(plan)
        #expect(try JSON.canonical(text) == text)
        #expect(try JSON.canonical(JSON.encode(JSON.decode(Plan.self, from: text))) == text)
      }
    }
  }
}
