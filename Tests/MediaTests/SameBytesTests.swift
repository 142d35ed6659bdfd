import AV
import Glibc
import Media
import MediaFixtures
import Model
import Platform
import Testing

@Suite("Reproducible outputs", .tags(.media), .serialized)
struct SameBytesTests {
  static let pairs: [(String, MarkedClip, MarkedClip)] = [
    ("upright H.264", MarkedClip(.red, tone: .init(440)), MarkedClip(.blue, tone: .init(1000))),
    (
      "rotated, of odd size and another frame rate",
      MarkedClip(.red, width: 278, height: 482, framesPerSecond: 24, tone: .init(440, sampleRate: 44_100)),
      MarkedClip(.blue, width: 360, height: 640, framesPerSecond: 60, rotation: .mirroredQuarter)
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

  private static let isSanitized = ["__asan_init", "__tsan_init"].contains { (symbol: String) in
    dlsym(nil, symbol) != nil
  }

  @Test(
    "uninitialised memory does not affect any output", .enabled(if: !isSanitized, "a sanitizer has its own malloc"),
    arguments: pairs.indices)
  func unwrittenMemory(index: Int) throws {
    let (name, front, back) = Self.pairs[index]
    let files = (front: try front.write(), back: try back.write())
    // mallopt(3) is missing in the Glibc module. With M_PERTURB, malloc fills every block below M_MMAP_THRESHOLD with
    // the complement of a byte. The option applies to the entire process, which does not affect other tests.
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

  @Test("both modes find damage at the same position")
  func refusals() throws {
    let back = try MarkedClip(.blue).write()
    var bytes = try TemporaryFile.bytes(of: MarkedClip(.red).write())
    // In the middle of the frames.
    for offset in bytes.count * 2 / 3..<bytes.count * 2 / 3 + 40 { bytes[offset] ^= 0x5A }
    let front = try TemporaryFile.make(bytes)
    let runs = try ExecutionMode.allCases.map { try MomentRun(front: front, back: back, mode: $0) }
    #expect(runs[0].codes == [.corruptVideo])
    #expect(runs[0].report.verdict.reasons == runs[1].report.verdict.reasons)
  }
}

@Suite("Release of resources", .tags(.media))
struct ReleaseTests {
  private static func run(_ clip: MarkedClip) throws -> Unowned {
    let front = try clip.write()
    let run = try MomentRun(front: front, back: MarkedClip(.blue, seconds: clip.seconds).write())
    return Unowned(file: front, isAccepted: run.isAccepted)
  }

  private struct Unowned {
    weak var file: OpenFile?
    let isAccepted: Bool
  }

  @Test("a finished run releases its files", arguments: [4.6, 4.0])
  func release(seconds: Double) throws {
    // Encoded audio and video: all objects that a run can hold.
    let run = try Self.run(MarkedClip(.red, seconds: seconds, codec: .hevc, tone: .init(440, channels: 6)))
    #expect(run.isAccepted == (seconds > 4.5))
    #expect(run.file == nil)
  }
}
