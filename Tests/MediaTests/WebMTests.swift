import AV
import BoxTesting
import Kernels
import Media
import MediaFixtures
import Model
import Platform
import Testing

@testable import MediaProcess

@Suite("WebM", .tags(.media))
struct WebMTests {
  /// The built-in definition with a small canvas, which also accepts what browsers record.
  static func definition() throws -> Definition {
    var definition = try MomentRun.definition()
    definition.limits.containers.append(.webM)
    definition.limits.videoCodecs += ["vp8", "vp9", "av1"]
    return definition
  }

  private static let back = MarkedClip(.blue, tone: .init(1000))

  private static func run(
    _ front: MarkedClip, _ back: MarkedClip = back, definition: Definition? = nil, mode: ExecutionMode = .throughput
  ) throws -> MomentRun {
    try MomentRun(front: front.write(), back: back.write(), definition: definition ?? Self.definition(), mode: mode)
  }

  static let codecs: [(MarkedClip.Codec, String)] = [(.vp8, "vp8"), (.vp9, "vp9"), (.av1, "av1")]

  @Test(
    "a clip of each codec is composed and encoded, whether a recorder went back or not", arguments: codecs.indices,
    [false, true])
  func accepted(index: Int, isLive: Bool) throws {
    let (codec, name) = Self.codecs[index]
    let run = try Self.run(.webM(.red, codec, tone: 440, isLive: isLive))
    #expect(run.codes == [] && run.warnings == [], "\(run.report.verdict.reasons)")
    let report = try #require(run.report.verdict.inputs[.front])
    #expect(report.facts.container == .webM && report.facts.video.codec == name && report.facts.audio?.codec == "opus")
    #expect((report.facts.duration == nil) == isLive && report.frames == 150)
    #expect(abs(try #require(report.decodedSeconds) - 5) < 0.005)
    try CompositionTests.expectMarks(run, inside: .red, outside: .blue, frames: 150)
    #expect(run.plan?.clips.map(\.mode) == [.encode, .remux])
    #expect(run.choices(.clip).first == "encode")
    let clip = try run.video(.clipFront)
    #expect(clip.stream(.video)?.codec == "h264" && clip.stream(.audio)?.codec == "aac")
    #expect(try ClipOutputTests.numbers(clip) == Array(0..<150))
    #expect(try CopiedClipTests.finding(run.bytes(.clipFront)) == nil)
    for role in [Role.composed, .clipFront] {
      let audio = try #require(try run.video(role).audio())
      #expect(audio.strength(of: 440) > 0.3 && audio.strength(of: 1000) < 0.01, "\(role.rawValue)")
      #expect(abs(audio.start + Double(audio.samples.count) / 48_000 - 5) < 0.03, "\(role.rawValue)")
    }
    #expect(try StillImage(run.bytes(.thumbnailFront)).counter == 30)
    #expect(try run.check().checked(run.report) == run.report)
  }

  @Test("both modes write the same outputs, and the first look has their bytes", arguments: codecs.indices)
  func modes(index: Int) throws {
    let front = try MarkedClip.webM(.red, Self.codecs[index].0, tone: 440, isLive: true).write()
    let back = try MarkedClip.webM(.blue, .vp8, isLive: true).write()
    let run = try MomentRun(front: front, back: back, definition: Self.definition())
    #expect(run.codes == [], "\(run.report.verdict.reasons)")
    let ahead = try MomentRun(front: front, back: back, definition: Self.definition(), mode: .latency)
    #expect(ahead.report == run.report)
    for role in try #require(run.plan).outputs { #expect(try ahead.bytes(role) == run.bytes(role), "\(role.rawValue)") }
    for mode in ExecutionMode.allCases {
      let look = try LookRun(of: run, front: front, back: back, mode: mode)
      #expect(Set(look.report.outputs.map(\.role)) == [.image, .thumbnailFront, .thumbnailBack])
      try look.expectOutputs(of: run, mode.rawValue)
      // Decoding begins at the key frame.
      #expect(try #require(look.report.verdict.inputs[.front]?.frames) <= 31)
    }
  }

  @Test("the first five seconds of a longer recording are used", arguments: codecs.indices)
  func trimmed(index: Int) throws {
    var definition = try TrimmingTests.definition()
    definition.limits.containers.append(.webM)
    definition.limits.videoCodecs.append(Self.codecs[index].1)
    let clip = MarkedClip.webM(.red, Self.codecs[index].0, seconds: 8, tone: 440, isLive: true)
    for mode in ExecutionMode.allCases {
      let run = try Self.run(clip, definition: definition, mode: mode)
      #expect(run.codes == [] && run.choices(.trimming) == ["trimmed to 5 s"], "\(run.report.verdict.reasons)")
      try CompositionTests.expectMarks(run, inside: .red, outside: .blue, frames: 150)
      #expect(try ClipOutputTests.numbers(run.video(.clipFront)) == Array(0..<150))
      #expect(run.report.verdict.inputs[.front]?.frames == 150)
      let audio = try #require(try run.video(.clipFront).audio())
      #expect(abs(audio.start + Double(audio.samples.count) / 48_000 - 5) < 0.03)
    }
  }

  @Test("frames are shown at their times where they come as the camera gives them", arguments: codecs.indices)
  func variableRate(index: Int) throws {
    // 24 to 30 frames a second, with a pause.
    var times: [Double] = []
    var time = 0.0
    while time < 5 {
      times.append(time)
      time += times.count == 60 ? 0.4 : [0.033, 0.041, 0.034, 0.042, 0.033][times.count % 5]
    }
    let clip = MarkedClip.webM(.red, Self.codecs[index].0, isLive: true) { $0.times = times }
    let run = try Self.run(clip)
    #expect(run.codes == [], "\(run.report.verdict.reasons)")
    var last = 0.0
    try run.video(.clipFront).forEachFrame { frame, seconds in
      let number = try #require(CounterBlocks.read(frame))
      let next = number + 1 < times.count ? times[number + 1] : 5
      #expect(times[number] - 0.03 < seconds && seconds < next + 0.03, "\(seconds) s shows \(times[number]) s")
      last = seconds
    }
    #expect(abs(last - 5) < 0.085)
  }

  @Test("sound and video stay in sync", arguments: ["libopus", "libvorbis"], [false, true])
  func synchronisation(encoder: String, isLive: Bool) throws {
    var definition = try Self.definition()
    definition.limits.audioCodecs = ["aac", "opus", "vorbis"]
    var clip = MarkedClip.webM(.red, .vp8, tone: 440, isLive: isLive)
    clip.tone?.delay = 0.5
    clip.tone?.encoder = encoder
    clip.tone?.channels = encoder == "libvorbis" ? 2 : 1
    let run = try Self.run(clip, definition: definition)
    #expect(run.codes == [] && run.warnings == [], "\(run.report.verdict.warnings)")
    for role in [Role.composed, .clipFront] {
      let onset = try #require(try run.video(role).audio()?.onset())
      #expect(abs(onset - 0.5) < 0.022, "\(role.rawValue) has its onset at \(onset) s")
    }
  }

  @Test("Vorbis is left out with a warning where a definition does not name it")
  func unnamedSound() throws {
    var clip = MarkedClip.webM(.red, .vp8, tone: 440)
    clip.tone?.encoder = "libvorbis"
    clip.tone?.channels = 2
    let run = try Self.run(clip)
    #expect(run.codes == [] && run.warnings == [.unsupportedAudio])
    #expect(run.report.verdict.inputs[.front]?.facts.undecodedSound == ["vorbis"])
    #expect(try #require(try run.video(.composed).audio()).strength(of: 1000) > 0.3)
  }

  @Test("an odd size becomes an even one", arguments: codecs.indices)
  func oddSize(index: Int) throws {
    let clip = MarkedClip.webM(.red, Self.codecs[index].0) { ($0.width, $0.height) = (271, 481) }
    let run = try Self.run(clip)
    #expect(run.codes == [], "\(run.report.verdict.reasons)")
    #expect(run.report.verdict.inputs[.front]?.facts.video.display == Size(width: 271, height: 481))
    let facts = try #require(run.facts(.clipFront))
    #expect(facts.width % 2 == 0 && facts.height % 2 == 0 && abs(facts.width - 271) == 1)
    try CompositionTests.expectMarks(run, inside: .red, outside: .blue, frames: 150)
    #expect(try run.check().checked(run.report) == run.report)
  }

  @Test("transparency is ignored")
  func alpha() throws {
    var tree = try #require(try ElementTree(TemporaryFile.bytes(of: MarkedClip.webM(.red, .vp8).write())))
    let video = try #require(tree.paths(to: 0xE0).first)
    tree[video].children?.append(ElementTree.Node(0x53C0, [1]))
    let entry = try #require(tree.paths(to: 0xAE).first)
    tree[entry].children?.append(ElementTree.Node(0x55EE, [1]))
    for path in tree.paths(to: 0xA3) {
      let block = ElementTree.Node(0xA1, tree[path].content)
      let more = ElementTree.Node(
        0x75A1, element(0xA6, element(0xEE, [1]), element(0xA5, Array(block.content.dropFirst(4)))))
      tree[path] = ElementTree.Node(0xA0, children: [block, more])
    }
    let run = try MomentRun(
      front: TemporaryFile.make(tree.bytes), back: Self.back.write(), definition: Self.definition())
    #expect(run.codes == [], "\(run.report.verdict.reasons)")
    try CompositionTests.expectMarks(run, inside: .red, outside: .blue, frames: 150)
  }

  @Test("a frame of VP8 that is not shown is not a missing one")
  func hiddenFrame() throws {
    var tree = try #require(try ElementTree(TemporaryFile.bytes(of: MarkedClip.webM(.red, .vp8, isLive: true).write())))
    let path = try #require(tree.paths(to: 0xA3).dropFirst(70).first)
    // Others refer to it.
    tree[path].content[4] &= ~0x10
    let run = try MomentRun(
      front: TemporaryFile.make(tree.bytes), back: Self.back.write(), definition: Self.definition())
    #expect(run.codes == [], "\(run.report.verdict.reasons)")
    #expect(run.report.verdict.inputs[.front]?.frames == 149)
    try CompositionTests.expectMarks(run, inside: .red, outside: .blue, frames: 150, maxDifference: 1)
  }

  @Test("VP8 has the colours of the container, or BT.601")
  func colors() throws {
    let tagged = try Self.run(.webM(.red, .vp8))
    #expect(tagged.report.verdict.inputs[.front]?.facts.video.color.matrix == "bt709" && tagged.choices(.color) == [])
    let untagged = try Self.run(
      .webM(.red, .vp8) { $0.tags = .init(range: "tv", matrix: "unknown", primaries: "unknown", transfer: "unknown") })
    #expect(untagged.report.verdict.inputs[.front]?.facts.video.color.matrix == "bt470bg")
    #expect(untagged.choices(.color).count == 1)
  }

  /// A recording whose size changes after some seconds, as that of a turned phone.
  private static func resized(_ codec: MarkedClip.Codec, after seconds: Int, rest: Double) throws -> OpenFile {
    var tree = try #require(
      try ElementTree(
        TemporaryFile.bytes(of: MarkedClip.webM(.red, codec, seconds: Double(seconds), isLive: true).write())))
    let other = MarkedClip.webM(.red, codec, seconds: rest, isLive: true) { ($0.width, $0.height) = (480, 270) }
    let second = try #require(try ElementTree(TemporaryFile.bytes(of: other.write())))
    let segment = try #require(tree.paths(to: 0x1853_8067).first)
    for path in second.paths(to: 0x1F43_B675) {
      var cluster = second[path]
      let index = try #require(cluster.children?.firstIndex { $0.id == 0xE7 })
      let time = try #require(cluster.children?[index].content.reduce(0) { $0 << 8 | Int($1) })
      cluster.children?[index].content = bigEndian(UInt32(time + seconds * 1000))
      tree[segment].children?.append(cluster)
    }
    return try TemporaryFile.make(tree.bytes)
  }

  @Test("a change of the size is refused, unless it is behind what is used", arguments: codecs.indices)
  func resized(index: Int) throws {
    let (codec, name) = Self.codecs[index]
    let run = try MomentRun(
      front: Self.resized(codec, after: 3, rest: 2), back: Self.back.write(), definition: Self.definition())
    RefusalTests.expect(.corruptVideo, run)
    let reason = try #require(run.report.verdict.reasons.first)
    #expect(reason.detail.hasPrefix("A frame of 480x270 yuv420p differs from the others."), "\(reason.detail)")
    #expect(abs(try #require(reason.seconds) - 3) < 0.05)
    var definition = try TrimmingTests.definition()
    definition.limits.containers.append(.webM)
    definition.limits.videoCodecs.append(name)
    let trimmed = try MomentRun(
      front: Self.resized(codec, after: 6, rest: 1), back: Self.back.write(), definition: definition)
    #expect(trimmed.codes == [], "\(trimmed.report.verdict.reasons)")
  }

  @Test("what a definition does not name is refused, and the reason says what it is")
  func notNamed() throws {
    let clip = try MarkedClip.webM(.red, .vp9).write()
    let builtIn = try RefusalTests.refuse(clip)
    RefusalTests.expect(.unsupportedContainer, builtIn)
    #expect(
      builtIn.report.verdict.reasons.first?.detail
        == "The file is a WebM or Matroska file, not a MOV, MP4 or 3GP video, regardless of its name. "
        + "Export the clip as MP4.")
    var definition = try MomentRun.definition()
    definition.limits.containers.append(.webM)
    let codec = try RefusalTests.refuse(clip, definition: definition)
    RefusalTests.expect(.unsupportedCodec, codec)
    #expect(codec.report.verdict.reasons.first?.detail.hasPrefix("Its video is vp9; h264 or hevc is accepted.") == true)
    definition.limits.containers = [.webM]
    #expect(
      try RefusalTests.refuse(MarkedClip(.red).write(), definition: definition).codes.first == .unsupportedContainer)
  }

  @Test("limits hold as for other clips")
  func limits() throws {
    var definition = try Self.definition()
    definition.limits.pixels = 270 * 479
    let file = try MarkedClip.webM(.red, .vp8, tone: 440, isLive: true).write()
    RefusalTests.expect(
      .tooLarge,
      try MomentRun(
        front: file, back: MarkedClip(.blue, width: 64, height: 64).write(), definition: definition))
    definition = try Self.definition()
    definition.limits.streams = 1
    #expect(
      try MomentRun(front: file, back: MarkedClip(.blue).write(), definition: definition).codes == [
        .unsupportedContainer
      ])
    for seconds in [4.0, 6.0, 30] {
      let run = try Self.run(.webM(.red, .vp8, seconds: seconds, isLive: true) { ($0.width, $0.height) = (64, 64) })
      RefusalTests.expect(.durationOutOfRange, run)
      #expect(run.report.verdict.inputs[.front]?.frames == nil, "the clip was decoded before it was refused")
    }
  }

  @Test("a recording that is cut is refused", arguments: [false, true])
  func cut(isLive: Bool) throws {
    let bytes = try TemporaryFile.bytes(of: MarkedClip.webM(.red, .vp9, tone: 440, isLive: isLive).write())
    for part in [0.1, 0.5, 0.9] {
      let cut = try TemporaryFile.make(Array(bytes.prefix(Int(Double(bytes.count) * part))))
      RefusalTests.expect(.truncatedContainer, try RefusalTests.refuse(cut, definition: Self.definition()))
    }
  }

  @Test("damage gives a verdict", arguments: codecs.indices)
  func damage(index: Int) throws {
    let bytes = try TemporaryFile.bytes(
      of: MarkedClip.webM(.red, Self.codecs[index].0, tone: 440, isLive: true).write())
    let back = try Self.back.write()
    for part in [0.02, 0.2, 0.5, 0.8] {
      var damaged = bytes
      let start = Int(Double(bytes.count) * part)
      for offset in start..<start + 200 { damaged[offset] ^= 0x5A }
      let run = try MomentRun(front: TemporaryFile.make(damaged), back: back, definition: Self.definition())
      #expect(run.isAccepted == run.codes.isEmpty)
      #expect(Set(run.codes).isSubset(of: [.corruptVideo, .truncatedContainer, .durationOutOfRange]), "\(run.codes)")
    }
  }
}
