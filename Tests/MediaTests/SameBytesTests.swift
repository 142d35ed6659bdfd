import AV
import Media
import MediaFixtures
import Model
import Testing

@Suite("The same bytes", .tags(.media))
struct SameBytesTests {
  static let pairs: [(String, MarkedClip, MarkedClip)] = [
    ("upright H.264", MarkedClip(.red, tone: .init(440)), MarkedClip(.blue, tone: .init(1000))),
    (
      "turned, uneven, of another rate",
      MarkedClip(.red, width: 278, height: 482, framesPerSecond: 24, tone: .init(440, sampleRate: 44_100)),
      MarkedClip(.blue, width: 360, height: 640, framesPerSecond: 60, turn: .mirroredQuarter)
    ),
    (
      "ten bits, surround",
      MarkedClip(.red, codec: .hevc10, tone: .init(440, channels: 6)), MarkedClip(.blue, codec: .hevc)
    ),
  ]

  @Test("a second run and the latency mode write the same outputs", arguments: pairs.indices)
  func modes(index: Int) throws {
    let (name, front, back) = Self.pairs[index]
    let files = (front: try front.write(), back: try back.write())
    let first = try MomentRun(front: files.front, back: files.back)
    #expect(first.codes == [], "\(name)")
    for mode in ExecutionMode.allCases {
      let again = try MomentRun(front: files.front, back: files.back, mode: mode)
      #expect(again.report == first.report)
      for role in try #require(first.plan).outputs {
        #expect(try again.bytes(role) == first.bytes(role), "\(name): \(role.rawValue), \(mode.rawValue)")
      }
    }
  }

  @Test("damage is found at the same place in both modes")
  func refusals() throws {
    let back = try MarkedClip(.blue).write()
    var bytes = try TemporaryFile.bytes(of: MarkedClip(.red).write())
    // Somewhere in the middle of the pictures.
    for offset in bytes.count * 2 / 3..<bytes.count * 2 / 3 + 40 { bytes[offset] ^= 0x5A }
    let front = try TemporaryFile.make(bytes)
    let runs = try ExecutionMode.allCases.map { try MomentRun(front: front, back: back, mode: $0) }
    #expect(runs[0].codes == [.corruptVideo])
    #expect(runs[0].report.verdict.reasons == runs[1].report.verdict.reasons)
  }
}
