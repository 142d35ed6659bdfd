import Definitions
import Model
import Queue
import Store

@testable import Kit
@testable import Rooms

extension FuzzTarget {
  static let bodies = [json, search, form, canonical, definition]

  private static func fields(_ bytes: [UInt8]) throws -> [String: JSONValue] {
    try JSONBody.fields(of: bytes, part: "body")
  }

  private static let defined = [
    "a": FieldDefinition(type: .text, max: 5), "b": FieldDefinition(type: .number, searchable: true),
    "c": FieldDefinition(type: .time, searchable: true), "d": FieldDefinition(type: .choice, choices: ["x", "y"]),
  ]

  /// A post or a change of one.
  private static let json = FuzzTarget("json") { bytes in
    let fields = try fields(bytes)
    if let draft = try? PostDraft(body: fields, user: nil, defined: defined) {
      let text = try JSON.encode(PostDraftResponse(draft: draft))
      expect((try? JSON.canonical(text)) != nil, "a response without a version")
    }
    _ = try? PostDraft(json: bytes, user: nil)
    _ = try PostChange(fields: fields, defined: defined)
  }

  /// A search in an area: GeoJSON, times and a cursor.
  private static let search = FuzzTarget("search") { bytes in
    let search = try PostSearch(fields: fields(bytes), for: .user("ada"), defined: defined)
    for piece in search.filter.area?.pieces ?? [] {
      for cell in piece.cells(limit: 4096) ?? [] { expect(cell >= 0, "a cell outside of the map") }
    }
  }

  /// The fields of a form, a line for each, with its name in front of `=`.
  private static let form = FuzzTarget("form") { bytes in
    var fields: [PostField: [UInt8]] = [:]
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      let parts = line.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, let field = PostField(rawValue: Array(parts[0]).text) else { continue }
      fields[field] = Array(parts[1])
    }
    _ = try PostDraft(form: fields, user: nil, defined: defined)
  }

  /// Stored JSON, whose hash is that of its canonical form.
  private static let canonical = FuzzTarget("canonical") { bytes in
    let form = try JSON.canonical(bytes)
    expect((try? JSON.canonical(form)) == form, "a canonical form of another canonical form")
  }

  private static let facts = ClipFacts(
    container: .mp4, bytes: 1_000_000, duration: 5,
    video: VideoFacts(
      stream: 0, codec: "h264", profile: "High", pixelFormat: "yuv420p", coded: Size(width: 1080, height: 1920),
      sampleAspectRatio: 1, transform: .identity, display: Size(width: 1080, height: 1920), framesPerSecond: 30,
      color: ColorFacts(range: "tv", matrix: "bt709", primaries: "bt709", transfer: "bt709")),
    audio: AudioFacts(stream: 1, codec: "aac", profile: "LC", sampleRate: 48000, channels: 2), unusedStreams: [])

  /// A definition, and its plan for ordinary media.
  private static let definition = FuzzTarget("definition") { bytes in
    let definition = try JSON.decode(MediaDefinition.self, from: bytes)
    let stored = try StoredDefinition(definition)
    expect(stored.hash == (try? StoredDefinition(definition))?.hash, "a hash that changes")
    switch definition {
    case .clips(let definition):
      let planner = Planner(definition)
      let plan = planner.plan(front: facts, back: facts, foreground: .back)
      _ = try JSON.encode(plan)
      _ = try JSON.encode(planner.plan(clip: facts))
    case .photos(let definition):
      for variant in definition.variants.values {
        for size in [Size(width: 1, height: 1), Size(width: 4000, height: 3000), Size(width: 1, height: 60_000)] {
          let made = variant.geometry(of: size).size
          expect(made.width > 0 && made.height > 0, "a variant without pixels")
        }
      }
    }
  }
}
