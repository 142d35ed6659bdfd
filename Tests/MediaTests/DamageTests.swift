import Media
import MediaFixtures
import Model
import Testing

@Suite("Damage of any kind", .tags(.media))
struct DamageTests {
  @Test("a damaged file ends in a verdict, and never in a crash", arguments: 0..<8)
  func anyDamage(seed: Int) throws {
    var definition = try MomentRun.definition(width: 64, height: 64)
    definition.limits.seconds = ClosedSeconds(shortest: 0.1, longest: 2)
    definition.outputs.composed?.seconds = ClosedSeconds(shortest: 0.1, longest: 2)
    definition.outputs.composed?.inset.margin = 2
    let codec: MarkedClip.Codec = seed % 2 == 0 ? .h264 : .hevc
    let sound = try MarkedClip(.blue, width: 64, height: 64, seconds: 0.4, tone: .init(1000)).write()
    let bytes = try TemporaryFile.bytes(
      of: MarkedClip(.red, width: 64, height: 64, seconds: 0.4, codec: codec, tone: .init(440)).write())
    // A fixed generator (Knuth, MMIX), so that a failure repeats itself.
    var state = UInt64(seed) + 1
    func next(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
    for _ in 0..<25 {
      var damaged = bytes
      for _ in 0...next(6) { damaged[next(damaged.count)] = UInt8(next(256)) }
      let run = try MomentRun(
        front: TemporaryFile.make(damaged), back: sound, definition: definition, roles: [.composed, .clipFront])
      #expect(run.isAccepted == run.codes.isEmpty)
    }
  }
}
