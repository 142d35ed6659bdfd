import AV
import Glibc
import Media
import MediaFixtures
import Model
import Testing

@Suite("The same bytes", .tags(.media), .serialized)
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

  @Test("what memory holds that nobody has written does not show in any output", arguments: pairs.indices)
  func unwrittenMemory(index: Int) throws {
    let (name, front, back) = Self.pairs[index]
    let files = (front: try front.write(), back: try back.write())
    // mallopt(3), which the Glibc module leaves out. With M_PERTURB every block that is not mapped for itself
    // (M_MMAP_THRESHOLD) comes filled with the complement of a byte. It holds for the whole of this process, and is
    // harmless to the tests beside this one.
    typealias SetOption = @convention(c) (_ option: Int32, _ value: Int32) -> Int32
    let setOption = unsafeBitCast(try #require(dlsym(nil, "mallopt")), to: SetOption.self)
    let (perturb, threshold): (Int32, Int32) = (-6, -3)
    #expect(setOption(threshold, 32 << 20) == 1)
    defer { _ = setOption(perturb, 0) }
    let runs = try [0x00, 0x35, 0x80, 0xFF].map { byte in
      #expect(setOption(perturb, Int32(byte)) == 1)
      return try MomentRun(front: files.front, back: files.back)
    }
    #expect(runs[0].codes == [], "\(name)")
    for role in try #require(runs[0].plan).outputs {
      #expect(Set(try runs.map { try $0.bytes(role) }).count == 1, "\(name): \(role.rawValue)")
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
