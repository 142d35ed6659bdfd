import Definitions
import Model
import Testing

@Suite("Plans")
struct PlannerTests {
  static func facts(
    codec: String = "h264", pixelFormat: String = "yuv420p", size: Size = Size(width: 1080, height: 1920),
    audio: AudioFacts? = AudioFacts(stream: 1, codec: "aac", profile: "LC", sampleRate: 48000, channels: 2),
    demand: DecoderDemand? = DecoderDemand(profile: 100, level: 4, bitsPerSecond: 9_000_000)
  ) -> ClipFacts {
    ClipFacts(
      container: .mp4, bytes: 1_000_000, duration: 5,
      video: VideoFacts(
        stream: 0, codec: codec, profile: "High", pixelFormat: pixelFormat, coded: size, sampleAspectRatio: 1,
        transform: .identity, display: size, framesPerSecond: 30,
        color: ColorFacts(range: "tv", matrix: "bt709", primaries: "bt709", transfer: "bt709"), demand: demand),
      audio: audio, unusedStreams: [])
  }

  let planner: Planner

  init() throws { planner = Planner(try Definitions.take5Post()) }

  @Test("the inset is 30 % of the canvas, top left, and every output of the definition is planned")
  func allOutputs() throws {
    let plan = planner.plan(front: Self.facts(), back: Self.facts(), foreground: .front)
    let composition = try #require(plan.composition)
    #expect(composition.inset == Rectangle(x: 36, y: 36, width: 324, height: 576))
    #expect(composition.foreground == .front)
    #expect(composition.background == .back)
    #expect(composition.audio == AudioPlan(input: .front, mode: .copy))
    #expect(
      Set(plan.outputs) == [
        .composed, .composedSmall, .clipFront, .clipBack, .poster, .image, .thumbnailFront, .thumbnailBack, .preview,
      ])
    #expect(plan.stills.first { $0.role == .image }?.input == .back)
    #expect(plan.stills.first { $0.role == .image }?.size == Size(width: 406, height: 720))
  }

  @Test("with the back in the foreground the clips are exchanged; the image is still taken from the back")
  func backInForeground() throws {
    let plan = planner.plan(front: Self.facts(), back: Self.facts(), foreground: .back)
    let composition = try #require(plan.composition)
    #expect(composition.foreground == .back)
    #expect(composition.background == .front)
    #expect(composition.audio?.input == .back)
    #expect(plan.stills.first { $0.role == .image }?.input == .back)
  }

  @Test(
    "the small rendition fits its edge in even sides, shows a planned composition, and is in no plan of a definition without it"
  )
  func rendition() throws {
    var definition = try Definitions.take5Post()
    func plan(_ roles: Set<Role>? = nil) -> Plan {
      Planner(definition).plan(front: Self.facts(), back: Self.facts(), foreground: .front, roles: roles)
    }
    #expect(plan().rendition?.size == Size(width: 540, height: 960))
    #expect(plan().rendition?.video == definition.outputs[.composedSmall]?.rendition?.video)
    #expect(plan([.composedSmall]).outputs == [.composed, .composedSmall])
    #expect(plan([.composed]).rendition == nil)
    definition.outputs[.composedSmall]?.rendition?.longEdge = 482
    #expect(plan().rendition?.size == Size(width: 272, height: 482))
    definition.outputs[.composedSmall]?.rendition?.longEdge = 4000
    #expect(plan().rendition?.size == definition.canvas.size)
    let recipe = try JSON.text(plan([.composed]))
    definition.outputs[.composedSmall] = nil
    #expect(plan().rendition == nil && plan().outputs.first == .composed)
    #expect(try JSON.text(plan([.composed])) == recipe && !recipe.contains("rendition"))
  }

  @Test("a single clip has no outputs of a moment")
  func singleClip() throws {
    let plan = Planner(try Definitions.markerVideo()).plan(clip: Self.facts(codec: "hevc"))
    #expect(plan.outputs == [.clip, .poster, .thumbnail, .preview])
    #expect(plan.clips.first?.mode == .encode && plan.clips.first?.framesPerSecond == 60)
    #expect(plan.moment == nil && Set(plan.inputs.keys) == [.clip])
    #expect(planner.plan(clip: Self.facts()).outputs.isEmpty)
  }

  @Test("without audio in the foreground the background's is used; without any the composition has none")
  func audio() throws {
    let silentFront = planner.plan(front: Self.facts(audio: nil), back: Self.facts(), foreground: .front)
    #expect(silentFront.composition?.audio?.input == .back)
    #expect(silentFront.inputs[.front]?.readsAudio == false && silentFront.composition?.otherAudio == nil)
    let silent = planner.plan(front: Self.facts(audio: nil), back: Self.facts(audio: nil), foreground: .front)
    let composition = try #require(silent.composition)
    #expect(composition.audio == nil)
  }

  @Test("the other clip's sound is planned for a foreground that may be silent, where the definition names it")
  func silent() throws {
    var definition = try Definitions.take5Post()
    func plan() -> Plan {
      Planner(definition).plan(front: Self.facts(), back: Self.facts(), foreground: .front, roles: [.composed])
    }
    #expect(plan().composition?.otherAudio == AudioPlan(input: .back, mode: .copy))
    #expect(plan().inputs.values.allSatisfy { $0.readsAudio })
    #expect(
      planner.plan(front: Self.facts(), back: Self.facts(audio: nil), foreground: .front).composition?.otherAudio == nil
    )
    definition.outputs[.composed]?.composed?.silent = nil
    #expect(plan().composition?.otherAudio == nil && plan().inputs[.back]?.readsAudio == false)
    #expect(try !JSON.text(plan()).contains("other_audio"))
  }

  @Test("sound that is brought to a loudness is encoded, but for the sound of copied clips")
  func loudness() throws {
    var definition = try Definitions.take5Post()
    let recipe = try JSON.text(planner.plan(front: Self.facts(), back: Self.facts(), foreground: .front))
    #expect(!recipe.contains("loudness"))
    definition.outputs[.composed]?.composed?.loudness = -16
    for role in [Role.clipFront, .clipBack] { definition.outputs[role]?.clip?.loudness = -18 }
    let plan = Planner(definition).plan(
      front: Self.facts(codec: "hevc"), back: Self.facts(), foreground: .front)
    #expect(plan.composition?.audio == AudioPlan(input: .front, mode: .encode, loudness: -16))
    #expect(plan.composition?.otherAudio == AudioPlan(input: .back, mode: .encode, loudness: -16))
    #expect(
      plan.clips.map(\.audio) == [
        AudioPlan(input: .front, mode: .encode, loudness: -18), AudioPlan(input: .back, mode: .copy),
      ])
    #expect(plan.decisions.contains { $0.subject == .audio && $0.reason.contains("brought to -16.0 LUFS") })
    definition.outputs[.composed]?.composed?.loudness = 1
    let bytes = try JSON.encode(definition)
    #expect(throws: DecodingError.self) { try JSON.decode(Definition.self, from: bytes) }
  }

  @Test("video that not every player decodes and audio other than stereo AAC-LC are encoded")
  func encodes() {
    let surround = AudioFacts(stream: 1, codec: "aac", profile: "LC", sampleRate: 48000, channels: 6)
    let plan = planner.plan(
      front: Self.facts(codec: "hevc", pixelFormat: "yuv420p10le", size: Size(width: 2160, height: 3840)),
      back: Self.facts(audio: surround), foreground: .back)
    #expect(plan.clips.first { $0.role == .clipFront }?.mode == .encode)
    #expect(plan.clips.first { $0.role == .clipFront }?.size == Size(width: 1080, height: 1920))
    #expect(plan.clips.first { $0.role == .clipBack }?.mode == .remux)
    #expect(plan.composition?.audio == AudioPlan(input: .back, mode: .encode))
  }

  @Test(
    "a clip with a tag that players read differently is encoded",
    arguments: [
      ("gbr", "bt709", "bt709"), ("reserved", "bt709", "bt709"), ("ycgco", "bt709", "bt709"),
      ("bt709", "reserved", "bt709"), ("bt709", "bt709", "reserved"),
    ])
  func tags(matrix: String, primaries: String, transfer: String) {
    var facts = Self.facts()
    #expect(planner.plan(front: facts, back: facts, foreground: .back).clips.map(\.mode) == [.remux, .remux])
    facts.video.color = ColorFacts(range: "tv", matrix: matrix, primaries: primaries, transfer: transfer)
    #expect(planner.plan(front: facts, back: Self.facts(), foreground: .back).clips.map(\.mode) == [.encode, .remux])
  }

  @Test("only the requested outputs are planned")
  func requestedRoles() {
    let plan = planner.plan(front: Self.facts(), back: Self.facts(), foreground: .front, roles: [.composed])
    #expect(plan.outputs == [.composed])
  }

  @Test("a composition that a requested still shows is planned with it")
  func requestedStill() throws {
    func outputs(_ planner: Planner, _ roles: Set<Role>) -> [Role] {
      planner.plan(front: Self.facts(), back: Self.facts(), foreground: .front, roles: roles).outputs
    }
    #expect(outputs(planner, [.poster]) == [.composed, .poster])
    #expect(outputs(planner, [.image]) == [.image])

    var definition = try Definitions.take5Post()
    definition.outputs[.composedSwapped] = definition.outputs[.composed]
    #expect(outputs(Planner(definition), [.composedSwapped, .preview]) == [.composed, .composedSwapped, .preview])
    definition.outputs[.composed] = nil
    #expect(outputs(Planner(definition), [.composedSwapped, .poster]) == [.composedSwapped, .poster])
    #expect(outputs(Planner(definition), [.poster]).isEmpty)
  }

  @Test(
    "a definition makes the roles that are planned from its inputs",
    arguments: [[.front, .back], [.front], [.back], [.clip]] as [[InputName]])
  func made(inputs: [InputName]) throws {
    for var definition in [try Definitions.take5Post(), try Definitions.markerVideo()] {
      let input = try #require(definition.inputs.values.first)
      definition.inputs = Dictionary(uniqueKeysWithValues: inputs.map { ($0, input) })
      switch inputs {
      case [.front, .back]:
        let plan = Planner(definition).plan(front: Self.facts(), back: Self.facts(), foreground: .back)
        #expect(plan.outputs == definition.madeRoles)
      case [.clip]: #expect(Planner(definition).plan(clip: Self.facts()).outputs == definition.madeRoles)
      default:
        let made = definition.madeRoles
        #expect(made.allSatisfy { definition.outputs[$0]?.composed == nil && $0 != .poster && $0 != .preview })
      }
    }
  }

  @Test("a plan is the same after encoding and decoding")
  func roundTrip() throws {
    let plan = planner.plan(front: Self.facts(), back: Self.facts(), foreground: .front)
    #expect(try JSON.decode(Plan.self, from: JSON.encode(plan)) == plan)
  }
}
