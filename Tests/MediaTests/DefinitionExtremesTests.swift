import MediaFixtures
import Model
import Testing

@Suite("The smallest and the largest values of a definition", .tags(.media))
struct DefinitionExtremesTests {
  private struct Change: Sendable {
    let name: String
    let apply: @Sendable (inout Definition) -> Void

    init(_ name: String, _ apply: @escaping @Sendable (inout Definition) -> Void) {
      (self.name, self.apply) = (name, apply)
    }
  }

  private static func composed(_ name: String, _ apply: @escaping @Sendable (inout Definition.Composed) -> Void)
    -> Change
  {
    Change(name) { definition in
      guard var output = definition.outputs[.composed]?.composed else { return }
      apply(&output)
      definition.outputs[.composed] = .composed(output)
    }
  }

  private static func preview(_ name: String, _ apply: @escaping @Sendable (inout Definition.Preview) -> Void) -> Change
  {
    Change(name) { definition in
      guard var output = definition.outputs[.preview]?.preview else { return }
      apply(&output)
      definition.outputs[.preview] = .preview(output)
    }
  }

  private static let presets = [
    "ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower", "veryslow", "placebo",
  ].map { preset in composed("preset \(preset)") { $0.video.preset = preset } }

  private static let integers: [(name: String, values: [Int])] = [
    ("8x8dct", [0, 1]), ("aq-mode", [0, 3]), ("b-adapt", [0, 2]), ("b-bias", [-90, 100]), ("b-pyramid", [0, 2]),
    ("bframes", [0, 16]), ("cabac", [0, 1]), ("chroma-me", [0, 1]), ("chroma-qp-offset", [-12, 12]),
    ("crf-max", [1, 51]), ("dct-decimate", [0, 1]), ("deadzone-inter", [0, 32]),
    ("deadzone-intra", [0, 32]), ("fast-pskip", [0, 1]), ("intra-refresh", [0, 1]), ("keyint", [1, 100_000]),
    ("mbtree", [0, 1]), ("merange", [4, 64]), ("min-keyint", [1, 100_000]), ("mixed-refs", [0, 1]), ("nr", [0, 1000]),
    ("open-gop", [0, 1]), ("psy", [0, 1]), ("qpmax", [1, 51]), ("qpmin", [0, 51]), ("qpstep", [1, 51]),
    ("rc-lookahead", [0, 250]), ("ref", [1, 16]), ("scenecut", [0, 400]), ("subme", [0, 11]), ("trellis", [0, 2]),
    ("vbv-bufsize", [0, 1_000_000]), ("vbv-maxrate", [0, 1_000_000]), ("weightb", [0, 1]), ("weightp", [0, 2]),
  ]

  private static let parameters: [Change] = integers.flatMap { name, values in
    values.map { value in composed("\(name) \(value)") { $0.video.x264[name] = value } }
  }

  private static let sizes: [Change] = [
    Change("canvas of 64x64") { ($0.canvas.width, $0.canvas.height) = (64, 64) },
    Change("a frame per second") { $0.canvas.framesPerSecond = 1 },
    Change("240 frames per second") { $0.canvas.framesPerSecond = 240 },
    Change("whole frames") { $0.canvas.fit = .fit },
    composed("the smallest inset") { $0.inset.width = 0.13 }, composed("the largest inset") { $0.inset.width = 0.96 },
    composed("no margin") { $0.inset.margin = 0 }, composed("the largest margin") { $0.inset.margin = 88 },
    composed("no radius") { $0.inset.radius = 0 }, composed("the largest radius") { $0.inset.radius = 16_384 },
    composed("a thin border") { $0.inset.border = Definition.Border(width: 2, color: .black) },
    composed("a thick border") { $0.inset.border = Definition.Border(width: 10, color: .black) },
    composed("side by side") { $0.layout = .sideBySide }, composed("stacked") { $0.layout = .stacked },
    composed("the best quality") { $0.video.crf = 1 }, composed("the worst quality") { $0.video.crf = 51 },
  ]

  private static let images: [Change] =
    [("smallest", 16, 1), ("largest", 16_384, 100)].flatMap { name, edge, quality in
      [
        Change("the \(name) still") { definition in
          for role in [Role.poster, .image, .thumbnailFront, .thumbnailBack] {
            definition.outputs[role]?.still?.longEdge = edge
            definition.outputs[role]?.still?.quality = quality
          }
        },
        preview("the \(name) preview") { ($0.longEdge, $0.quality) = (edge, quality) },
        Change("the \(name) rendition") { $0.outputs[.composedSmall]?.rendition?.longEdge = edge },
        Change("the \(name) clips") { definition in
          for role in [Role.clipFront, .clipBack] { definition.outputs[role]?.clip?.longEdge = edge }
        },
      ]
    } + [
      preview("the shortest preview") { ($0.seconds, $0.framesPerSecond) = (0.1, 1) },
      preview("the longest preview") { ($0.seconds, $0.framesPerSecond) = (30, 60) },
      Change("frames at the start") { $0.outputs[.poster]?.still?.at = 0 },
      Change("frames behind the end") { definition in
        for role in [Role.poster, .image] { definition.outputs[role]?.still?.at = 86_400 }
        definition.outputs[.preview]?.preview?.at = 86_400
      },
    ]

  private static let changes = presets + parameters + sizes + images

  @Test("with each of them every output is made", arguments: changes.indices)
  func made(index: Int) throws {
    let change = Self.changes[index]
    var definition = try MomentRun.definition(width: 128, height: 128)
    definition.limits.seconds = SecondsRange(shortest: 0.1, longest: 2)
    definition.outputs[.composed]?.composed?.seconds = SecondsRange(shortest: 1, longest: 2)
    definition.outputs[.composed]?.composed?.inset.margin = 2
    change.apply(&definition)
    #expect(definition.faults == [], "\(change.name)")
    let front = MarkedClip(.red, width: 64, height: 64, seconds: 1.2, tone: .init(440))
    let back = MarkedClip(.blue, width: 64, height: 64, seconds: 1.2, tone: .init(1000))
    let run = try MomentRun(front: front.write(), back: back.write(), definition: definition)
    #expect(run.isAccepted, "\(change.name): \(run.report.verdict.reasons)")
    #expect(Set(run.report.outputs.map(\.role)) == Set(definition.madeRoles), "\(change.name)")
    for output in run.report.outputs { #expect(output.bytes > 0, "\(change.name): \(output.role.rawValue)") }
  }
}
