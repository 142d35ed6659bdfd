import Definitions
import Model
import Testing

@Suite("What a copied clip may ask of a decoder")
struct CopyLimitTests {
  private static func plan(
    _ demand: DecoderDemand?, size: Size = Size(width: 1080, height: 1920),
    _ change: (inout Definition) -> Void = { _ in }
  ) throws -> Plan {
    var definition = try Definitions.take5Post()
    change(&definition)
    let facts = PlannerTests.facts(size: size, demand: demand)
    return Planner(definition).plan(front: facts, back: PlannerTests.facts(), foreground: .front)
  }

  private static func demand(_ profile: Int = 100, _ level: Double = 4, _ bits: Int = 9_000_000) -> DecoderDemand {
    DecoderDemand(profile: profile, level: level, bitsPerSecond: bits)
  }

  static let kinds: [(demand: DecoderDemand?, size: Size, reason: String?)] = [
    (demand(), Size(width: 1080, height: 1920), nil),
    (demand(66), Size(width: 1080, height: 1920), nil),
    (demand(77), Size(width: 1080, height: 1920), nil),
    (demand(88), Size(width: 1080, height: 1920), "profile, High (88)"),
    (demand(110), Size(width: 1080, height: 1920), "profile, High (110)"),
    (demand(122), Size(width: 1080, height: 1920), "profile, High (122)"),
    (demand(244), Size(width: 1080, height: 1920), "profile, High (244)"),
    (demand(100, 4.2), Size(width: 1080, height: 1920), nil),
    (demand(100, 5), Size(width: 1080, height: 1920), "level 5.0; not every phone decodes more than 4.2"),
    (demand(), Size(width: 1920, height: 1080), nil),
    (demand(), Size(width: 1922, height: 1080), "1922 pixels"),
    (demand(), Size(width: 1080, height: 1936), "1936 pixels"),
    (demand(100, 4.2, 62_500_000), Size(width: 1080, height: 1920), nil),
    (demand(100, 4.2, 62_500_001), Size(width: 1080, height: 1920), "62500001 bits per second"),
    (nil, Size(width: 1080, height: 1920), "its parameter sets do not say what a decoder needs"),
  ]

  @Test("a clip on either side of each limit is copied, or encoded with the reason", arguments: kinds.indices)
  func limits(index: Int) throws {
    let (demand, size, reason) = Self.kinds[index]
    let plan = try Self.plan(demand, size: size)
    #expect(plan.clips.map(\.mode) == [reason == nil ? .remux : .encode, .remux])
    let decision = try #require(plan.decisions.first { $0.subject == .clip && $0.input == .front })
    #expect(decision.choice == (reason == nil ? "remux" : "encode"))
    #expect(decision.reason.contains(reason ?? "plays everywhere"), "\(decision.reason)")
    let clip = try #require(plan.clips.first)
    #expect(max(clip.size.width, clip.size.height) <= 1920 && (clip.video == nil) == (reason == nil))
  }

  @Test("a definition without the key copies as before, and its plans have no new key")
  func absent() throws {
    let plan = try Self.plan(Self.demand(244, 6.2, 500_000_000), size: Size(width: 3840, height: 2160)) { definition in
      for role in [Role.clipFront, .clipBack] { definition.outputs[role]?.clip?.copy = nil }
    }
    #expect(plan.clips.map(\.mode) == [.remux, .remux])
    #expect(plan.inputs.values.allSatisfy { $0.facts.video.demand == nil })
    #expect(try !JSON.text(plan).contains("demand"))
  }

  @Test(
    "a limit that no stream has is refused with its path",
    arguments: [
      (#""profiles": [256], "level": 4, "long_edge": 1, "bits_per_second": 1"#, "outputs.clip.copy.profiles"),
      (#""profiles": [66], "level": 7, "long_edge": 1, "bits_per_second": 1"#, "outputs.clip.copy.level"),
      (#""profiles": [66], "level": 4, "long_edge": 0, "bits_per_second": 1"#, "outputs.clip.copy.long_edge"),
      (#""profiles": [66], "level": 4, "long_edge": 1, "bits_per_second": 0"#, "outputs.clip.copy.bits_per_second"),
      (#""level": 4, "long_edge": 1, "bits_per_second": 1"#, "outputs.clip.copy.profiles"),
    ])
  func ranges(keys: String, path: String) throws {
    let text = String(decoding: try JSON.encode(try Definitions.markerVideo()), as: UTF8.self)
    let start = try #require(text.firstRange(of: #""copy":{"#)?.upperBound)
    let end = try #require(text[start...].firstIndex(of: "}"))
    do {
      _ = try JSON.decode(Definition.self, from: Array((text[..<start] + keys + text[end...]).utf8))
      Issue.record("decoded")
    } catch {
      #expect(JSON.reason(error).contains(path), "\(JSON.reason(error))")
    }
  }
}
