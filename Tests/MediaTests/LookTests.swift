import AV
import Media
import MediaFixtures
import Model
import Platform
import Testing

@Suite("First looks", .tags(.media))
struct LookTests {
  private static let both: [Role] = [.clipFront, .clipBack, .image, .thumbnailFront, .thumbnailBack]
  private static let stills: [Role] = [.clipBack, .image, .thumbnailFront, .thumbnailBack]

  /// Front clips, each with the outputs of its first look, and with the number of frames that its still at one second needs.
  static let clips: [(String, MarkedClip, roles: [Role], frames: Int)] = [
    ("as phones write it", clip { $0.tone = .init(440) }, both, 1),
    ("without a sync frame but the first", clip { $0.x264 = "keyint=300" }, both, 31),
    ("with B frames", clip { ($0.isReordered, $0.tone) = (true, .init(440, delay: 0.3)) }, both, 1),
    (
      "with open GOPs after the first one", clip { $0.x264 = "open-gop=1:bframes=2:b-adapt=0:keyint=30:scenecut=0" },
      both, 31
    ),
    ("rotated, from a QuickTime file", clip { ($0.rotation, $0.format) = (.quarter, .mov) }, both, 1),
    ("with sound that is encoded again", clip { $0.tone = .init(440, sampleRate: 44_100, channels: 6) }, both, 1),
    (
      "with a varying frame rate",
      clip { clip in clip.times = clip.times.enumerated().filter { $0.offset % 7 != 3 }.map { $0.element } }, both, 31
    ),
    ("that begins inside an open GOP", clip { $0.beginsWithOpenGOP = true }, stills, 31),
    ("of HEVC", clip { $0.codec = .hevc }, stills, 1),
    ("of HEVC with open GOPs", clip { ($0.codec, $0.isReordered) = (.hevc, true) }, stills, 1),
    ("of HEVC that begins inside an open GOP", clip { ($0.codec, $0.beginsWithOpenGOP) = (.hevc, true) }, stills, 31),
    ("that is interlaced", clip { ($0.width, $0.isInterlaced) = (288, true) }, stills, 31),
    (
      "with a high dynamic range",
      HighDynamicRangeTests.clip([0, 0.38, 0.75, 1].map(HighDynamicRangeTests.code), transfer: "arib-std-b67"), stills,
      1
    ),
  ]

  private static func clip(_ change: (inout MarkedClip) -> Void) -> MarkedClip {
    var clip = MarkedClip(.red)
    change(&clip)
    return clip
  }

  @Test("its outputs have the bytes of the whole run, in both modes", arguments: clips.indices)
  func bytes(index: Int) throws {
    let (name, clip, roles, frames) = Self.clips[index]
    let (front, back) = (try clip.write(), try MarkedClip(.blue, tone: .init(1000)).write())
    let run = try MomentRun(front: front, back: back)
    #expect(run.codes == [], "\(name)")
    for mode in ExecutionMode.allCases {
      let look = try LookRun(of: run, front: front, back: back, mode: mode)
      #expect(Set(look.report.outputs.map(\.role)) == Set(roles), "\(name)")
      try look.expectOutputs(of: run, "\(name), \(mode.rawValue)")
      let inputs = look.report.verdict.inputs
      #expect(try #require(inputs[.front]?.frames, "\(name)") <= frames, "\(name)")
      // Its image is at the start, its thumbnail at the sync frame after a second.
      #expect(try #require(inputs[.back]?.frames) <= 2)
    }
  }

  @Test("its outputs have the bytes of the whole run for every kind of edit list", arguments: EditedClip.all)
  func editLists(clip: EditedClip) throws {
    let (front, back) = (try TemporaryFile.make(clip.bytes()), try MarkedClip(.blue).write())
    let run = try MomentRun(front: front, back: back, foreground: .back)
    let look = try LookRun(of: run, front: front, back: back)
    try look.expectOutputs(of: run, clip.description)
  }

  @Test(
    "a still of any time is the same, and only the frames since the last sync frame are decoded for it",
    arguments: [0, 0.99, 1, 1.02, 3.7, 4.99, 100],
    [clip { _ in }, clip { $0.isReordered = true }, clip { ($0.codec, $0.isReordered) = (.hevc, true) }])
  func times(seconds: Double, clip: MarkedClip) throws {
    var definition = try MomentRun.definition()
    definition.outputs[.thumbnailFront]?.still?.at = seconds
    let (front, back) = (try clip.write(), try MarkedClip(.blue).write())
    let run = try MomentRun(front: front, back: back, definition: definition, roles: [.thumbnailFront])
    #expect(run.codes == [])
    let look = try LookRun(of: run, front: front, back: back)
    try look.expectOutputs(of: run, "at \(seconds)")
    #expect(look.report.verdict.inputs[.front]?.frames == min(149, Int(seconds * 30 + 0.001)) % 30 + 1)
  }

  @Test(
    "damage behind the frames that it shows does not hinder it, and damage of these has the reasons of the whole run")
  func damage() throws {
    var clip = MarkedClip(.red)
    clip.x264 = "keyint=300"
    let bytes = try TemporaryFile.bytes(of: clip.write())
    let back = try MarkedClip(.blue).write()
    let whole = try MomentRun(front: clip.write(), back: back)
    func damaged(at part: Double) throws -> OpenFile {
      var bytes = bytes
      let media = try #require(bytes.firstRange(of: Array("mdat".utf8))).upperBound
      let size = bytes[media - 8..<media - 4].reduce(0) { $0 << 8 | Int($1) } - 8
      let start = media + Int(Double(size) * part)
      for offset in start..<start + 400 { bytes[offset] ^= 0x5A }
      return try TemporaryFile.make(bytes)
    }
    for (part, isNeeded) in [(0.9, false), (0.1, true)] {
      let front = try damaged(at: part)
      let run = try MomentRun(front: front, back: back)
      #expect(run.codes == [.corruptVideo])
      for mode in ExecutionMode.allCases {
        let look = try LookRun(of: run, front: front, back: back, mode: mode)
        #expect(look.report.verdict.reasons == (isNeeded ? run.report.verdict.reasons : []), "\(part)")
        guard !isNeeded else {
          #expect(look.report.outputs.isEmpty)
          continue
        }
        for role in [Role.thumbnailFront, .thumbnailBack, .image, .clipBack] {
          #expect(try look.bytes(role) == whole.bytes(role), "\(role.rawValue)")
        }
      }
    }
  }

  @Test(
    "the small variants of a photo have the bytes that they have beside the large ones",
    arguments: [
      [
        .photoLarge: .init(longEdge: 1024, quality: 80), .photoMedium: .init(longEdge: 800, quality: 80),
        .photoSmall: .init(longEdge: 320, quality: 80), .photoSquare: .init(square: 150, quality: 80),
      ],
      [.photoLarge: .init(longEdge: 1024, quality: 80), .photoSquare: .init(square: 150, quality: 80)],
      [.photoSmall: .init(longEdge: 320, quality: 80), .avatar: .init(square: 512, quality: 80)],
    ] as [[Role: PhotoVariant]])
  func photos(variants: [Role: PhotoVariant]) throws {
    let image = PhotoFixture.image(width: 1200, height: 900) { x, y in
      (UInt8((x * 7 + y * 3) % 256), UInt8((x * y / 5) % 256), UInt8((x / 3 + 11 * y) % 256))
    }
    for bytes in [
      try PhotoFixture.jpeg(image), try PhotoFixture.jpeg(image, exif: PhotoFixture.exif(orientation: 6)),
      try PhotoFixture.heic(image),
    ] {
      let plan = PhotoPlan(limits: PhotoCase.limits(), variants: variants)
      let look = try #require(plan.look)
      let small = Set(variants.filter { $0.value.longEdge ?? $0.value.square ?? 0 <= 720 }.keys)
      #expect(Set(look.outputs) == small)
      func run(_ plan: PhotoPlan) throws -> (report: PhotoReport, outputs: [Role: [UInt8]]) {
        let files = try Dictionary(uniqueKeysWithValues: plan.outputs.map { ($0, try TemporaryFile.make()) })
        let report = try PhotoRunner(plan).run(TemporaryFile.make(bytes), outputs: files)
        #expect(report.reason == nil)
        return (report, try files.mapValues { try TemporaryFile.bytes(of: $0) })
      }
      let (whole, first) = (try run(plan), try run(look))
      #expect(first.outputs == whole.outputs.filter { small.contains($0.key) })
      #expect(first.report.thumbhash == whole.report.thumbhash)
      #expect(first.report.dominantColor == whole.report.dominantColor)
    }
  }
}

/// The first look of a moment, as the service makes it.
struct LookRun {
  let report: RunReport
  private let files: [Role: OpenFile]

  /// - Parameter run: the run of the whole plan.
  init(of run: MomentRun, front: OpenFile, back: OpenFile, mode: ExecutionMode = .throughput) throws {
    let plan = try #require(run.plan?.look)
    files = try Dictionary(uniqueKeysWithValues: plan.outputs.map { ($0, try TemporaryFile.make()) })
    report = try PlanRunner(plan, mode: mode, inputs: [.front: front, .back: back], outputs: files).run()
  }

  func bytes(_ role: Role) throws -> [UInt8] {
    guard let file = files[role] else { throw MomentRun.MissingOutput(role: role) }
    return try TemporaryFile.bytes(of: file)
  }

  /// Checks that each output of the look is one of the whole run.
  func expectOutputs(of run: MomentRun, _ name: String) throws {
    #expect(report.verdict.reasons == [], "\(name)")
    #expect(Set(report.outputs.map(\.role)) == Set(files.keys), "\(name)")
    for facts in report.outputs {
      var expected = run.facts(facts.role)
      // The sound that it copies is not measured.
      if facts.loudnessLufs == nil { expected?.loudnessLufs = nil }
      #expect(expected == facts, "\(name)")
      #expect(try bytes(facts.role) == run.bytes(facts.role), "\(name): \(facts.role.rawValue)")
    }
  }
}
