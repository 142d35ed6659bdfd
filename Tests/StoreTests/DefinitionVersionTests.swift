import Crypto
import Model
import Store
import Testing

@Suite("Definitions stored by an earlier version")
struct DefinitionVersionTests {
  /// The definitions that the program stored, one per line, byte for byte: all in the first version, and those that have a second one.
  private static let stored = [PackageResources.v1_definitions_jsonl, PackageResources.v2_definitions_jsonl]
    .flatMap { String(decoding: $0, as: UTF8.self).split(separator: "\n").map { Array($0.utf8) } }

  private static let facts = ClipFacts(
    container: .mp4, bytes: 1_000_000, duration: 5,
    video: VideoFacts(
      stream: 0, codec: "h264", profile: "High", pixelFormat: "yuv420p", coded: Size(width: 1080, height: 1920),
      sampleAspectRatio: 1, transform: .identity, display: Size(width: 1080, height: 1920), framesPerSecond: 30,
      color: ColorFacts(range: "tv", matrix: "bt709", primaries: "bt709", transfer: "bt709")),
    audio: AudioFacts(stream: 1, codec: "aac", profile: "LC", sampleRate: 48000, channels: 2), unusedStreams: [])

  @Test("there is a definition for each kind of submission")
  func names() throws {
    let names = try Self.stored.map { try StoredDefinition(JSON.decode(MediaDefinition.self, from: $0)).name }
    #expect(
      names.sorted() == [
        "itinerary-thumbnail", "marker-video", "marker-video", "photo-post", "place-photo", "profile-image", "reaction",
        "take5-post", "take5-post",
      ])
  }

  @Test("each definition decodes and plans all of its outputs", arguments: stored)
  func plans(body: [UInt8]) throws {
    switch try JSON.decode(MediaDefinition.self, from: body) {
    case .clips(let definition):
      let planner = Planner(definition)
      let plan =
        definition.inputs.count == 1
        ? planner.plan(clip: Self.facts) : planner.plan(front: Self.facts, back: Self.facts, foreground: .front)
      #expect(Set(plan.outputs) == Set(definition.madeRoles) && !plan.outputs.isEmpty)
    case .photos(let definition):
      #expect(Set(definition.plan.outputs) == Set(definition.variants.keys) && !definition.variants.isEmpty)
    }
  }

  // Reprocessing skips outputs by the hash of their definition.
  @Test("the hash of each definition is unchanged", arguments: stored)
  func hashes(body: [UInt8]) throws {
    let again = try StoredDefinition(JSON.decode(MediaDefinition.self, from: body))
    #expect(again.hash == SHA256.digest(of: body))
    #expect(try JSON.canonical(body) == body)
  }
}
