import AV
import Definitions
import Media
import MediaFixtures
import Model
import Platform
import Testing

@testable import MediaProcess

@Suite("Honest replies", .tags(.media))
struct HonestReplyTests {
  /// Clips whose outputs are copied, encoded, turned, cropped or timed in unusual ways.
  static let clips: [(String, @Sendable (inout MarkedClip) -> Void)] = [
    ("as phones write it", { $0.tone = .init(440) }),
    ("with B frames", { $0.isReordered = true }),
    ("rotated", { $0.rotation = .quarter }),
    ("mirrored and rotated, from a QuickTime file", { ($0.rotation, $0.format) = (.mirroredThreeQuarters, .mov) }),
    ("HEVC with ten bits", { $0.codec = .hevc10 }),
    ("with cropped columns", { ($0.width, $0.croppedColumns) = (320, 14) }),
    ("with wide samples", { $0.sampleAspectRatio = Rational(4, 3) }),
    ("with audio that starts late", { ($0.tone, $0.isReordered) = (.init(440, delay: 0.3), true) }),
    ("with frames that take longer", { $0.times = (0..<50).map { Double($0) / 10 + ($0 % 3 == 1 ? 0.02 : 0) } }),
    ("without change", { $0.frozenFrom = 0 }),
  ]

  @Test("the report of an accepted moment passes unchanged", arguments: clips.indices)
  func moment(index: Int) throws {
    let (name, change) = Self.clips[index]
    var front = MarkedClip(.red)
    change(&front)
    let run = try MomentRun(front: front.write(), back: MarkedClip(.blue, tone: .init(1000)).write())
    #expect(run.codes == [], "\(name)")
    #expect(try run.check().checked(run.report) == run.report, "\(name)")
  }

  @Test("the reports of a rejected moment pass unchanged")
  func rejectedMoment() throws {
    let short = try MomentRun(front: MarkedClip(.red, seconds: 3).write(), back: MarkedClip(.blue).write())
    #expect(short.codes == [.durationOutOfRange])
    #expect(try short.check().checked(short.report) == short.report)
    let same = try MarkedClip(.red).write()
    let twice = try MomentRun(front: same, back: same)
    #expect(twice.codes == [.sameFileTwice])
    #expect(try twice.check().checked(twice.report) == twice.report)
  }

  @Test("the reports of a probe pass unchanged")
  func probe() throws {
    let limits = try MomentRun.definition().limits
    let front = try PrivacyTests.withMetadata(MarkedClip(.red, tone: .init(440)))
    for back in [try TemporaryFile.bytes(of: MarkedClip(.blue).write()), Array(front.prefix(2000)), []] {
      var report = ProbeReport()
      for (input, bytes) in [(InputName.front, front), (.back, back)] {
        switch try Prober(limits: limits).probe(TemporaryFile.make(bytes), as: input) {
        case .success(let facts): report.facts[input] = facts
        case .failure(let reason): report.reasons.append(reason)
        }
      }
      let check = ProbeCheck(limits: limits, inputs: [.front: Int64(front.count), .back: Int64(back.count)])
      #expect(try check.checked(report) == report)
    }
  }

  @Test(
    "the reports of a single clip, of a still of it and of its inspection pass unchanged, also if nothing moves in it",
    arguments: [nil, 0])
  func singleClip(frozenFrom: Int?) throws {
    let definition = try Definitions.markerVideo()
    var clip = MarkedClip(.green, width: 480, height: 270, seconds: 1.2, tone: .init(440))
    clip.frozenFrom = frozenFrom
    let file = try clip.write()
    let facts = try Prober(limits: definition.limits).probe(file, as: .clip).get()
    let planner = Planner(definition)
    for plan in [
      planner.plan(clip: facts), planner.plan(stillOf: facts, at: 0.5, longEdge: 240, quality: 85),
      planner.plan(inspecting: facts),
    ] {
      var files: [Role: OpenFile] = [:]
      for role in plan.outputs { files[role] = try TemporaryFile.make() }
      let report = try PlanRunner(plan, inputs: [.clip: file], outputs: files).run()
      #expect(report.verdict.verdict == .accepted)
      let written = try files.mapValues { RequestFile(try TemporaryFile.bytes(of: $0)) }
      #expect(try RunCheck(plan: plan, outputs: written).checked(report) == report)
      // The files give the same as their bytes.
      let opened = try RequestFile.all(files)
      #expect(try RunCheck(plan: plan, outputs: opened).checked(report) == report)
    }
  }

  @Test("the reports of photos of all formats pass unchanged", arguments: PhotoFixture.formats + ["gif"])
  func photos(format: String) throws {
    let photo = try PhotoFixture.photo(in: format, width: 333, height: 222)
    for name in Definitions.photoNames {
      let variants = try #require(try Definitions.photo(name)).plan.variants
      try Self.expectUnchanged(photo, variants: variants)
      try Self.expectUnchanged(photo, variants: variants, preview: PhotoPreview(longEdge: 100, quality: 60))
    }
    try Self.expectUnchanged(photo, variants: [:])
  }

  @Test("the reports of animations pass unchanged, with a preview and without, also if nothing moves in them")
  func animations() throws {
    for colors in [[0, 1, 2], [1, 1], [2]] as [[UInt8]] {
      let photo = PhotoPreviewTests.file(colors.map { PhotoPreviewTests.all($0) }).bytes
      for edge in [16, 33, 480] {
        let preview = PhotoPreview(longEdge: edge, quality: 60)
        try Self.expectUnchanged(photo, variants: [:], preview: preview)
        let variants: [Role: PhotoVariant] = [.photoSmall: PhotoVariant(longEdge: 20, quality: 80)]
        try Self.expectUnchanged(photo, variants: variants, preview: preview)
        try Self.expectUnchanged(photo, variants: variants)
      }
    }
  }

  @Test("the reports of variants in WebP and AVIF with odd sides pass unchanged")
  func formats() throws {
    for edge in [1, 33, 150, 500] {
      try Self.expectUnchanged(
        PhotoFixture.photo(in: "jpeg", width: 333, height: 221),
        variants: [
          .photoLarge: PhotoVariant(longEdge: edge, quality: 80, format: .webp),
          .photoSmall: PhotoVariant(longEdge: edge, quality: 80, format: .avif),
          .photoSquare: PhotoVariant(square: edge, quality: 80, format: .avif),
        ])
    }
  }

  @Test("the reports of refused photos pass unchanged")
  func refusedPhotos() throws {
    let jpeg = try PhotoFixture.photo(in: "jpeg")
    for photo in [[], Array("GIF89a".utf8) + [0, 0, 0], Array(jpeg.prefix(200))] {
      let run = try PhotoCase(photo)
      #expect(run.report.reason != nil)
      try Self.expectUnchanged(photo, variants: [.photoLarge: PhotoVariant(longEdge: 2048, quality: 95)])
    }
  }

  private static func expectUnchanged(
    _ photo: [UInt8], variants: [Role: PhotoVariant], preview: PhotoPreview? = nil
  ) throws {
    var limits = PhotoCase.limits()
    limits.formats = PhotoFormat.allCases
    let run = try PhotoCase(photo, variants: variants, preview: preview, limits: limits)
    let plan = PhotoPlan(limits: limits, variants: variants, preview: preview)
    let check = PhotoCheck(
      plan: plan, bytes: Int64(photo.count),
      outputs: try Dictionary(
        uniqueKeysWithValues: plan.outputs.map { ($0, RequestFile(try run.bytes($0))) }))
    #expect(try check.checked(run.report) == run.report)
  }
}

extension MomentRun {
  /// The check of its report, with its outputs as they were written.
  func check() throws -> RunCheck {
    let plan = try #require(plan)
    let files = try plan.outputs.map { ($0, RequestFile(try bytes($0))) }
    return RunCheck(plan: plan, outputs: Dictionary(uniqueKeysWithValues: files))
  }
}
