import Kernels
import MediaFixtures
import Model
import Testing

@Suite("Interlaced clips", .tags(.media))
struct InterlacedTests {
  /// The number of samples that differ from the rows above and below in the same direction.
  private static func combedSamples(_ frame: ImagePlanes) -> Int {
    var count = 0
    for y in 1..<frame.height - 1 {
      for x in 0..<frame.width {
        let (above, here, below) = (Int(frame.y[x, y - 1]), Int(frame.y[x, y]), Int(frame.y[x, y + 1]))
        if (here - above > 40 && here - below > 40) || (above - here > 40 && below - here > 40) { count += 1 }
      }
    }
    return count
  }

  private static func interlaced(seconds: Double = 5) -> MarkedClip {
    var clip = MarkedClip(.red, width: 288, height: 480, seconds: seconds)
    clip.isInterlaced = true
    return clip
  }

  @Test("moving content is deinterlaced", arguments: [ExecutionMode.throughput, .latency])
  func deinterlaced(mode: ExecutionMode) throws {
    let file = try Self.interlaced().write()
    var source = 0
    try DecodedClip(file).forEachFrame { frame, _ in source = max(source, Self.combedSamples(frame)) }
    try #require(source > 1000, "the fixture shows no combing")
    let run = try MomentRun(front: file, back: MarkedClip(.blue).write(), mode: mode)
    #expect(run.codes == [])
    #expect(run.choices(.deinterlacing).count == 1)
    #expect(run.plan?.clips.first { $0.role == .clipFront }?.mode == .encode)
    var frames = 0
    try run.video(.clipFront).forEachFrame { frame, _ in
      #expect(Self.combedSamples(frame) < 20, "frame \(frames)")
      frames += 1
    }
    #expect(frames == 150)
  }

  @Test("content is deinterlaced although the first frames are called progressive", arguments: [1, 20])
  func late(progressive: Int) throws {
    var bytes = try TemporaryFile.bytes(of: Self.interlaced().write())
    // A message on the timing of a frame says "bottom field first" in four bits (ITU-T H.264, D.1.3); 0 says "frame".
    let messages = bytes.indices.dropLast(5).filter { bytes[$0..<$0 + 5].elementsEqual([6, 1, 1, 0x42, 0x80]) }
    try #require(messages.count == 150)
    for message in messages.prefix(progressive) { bytes[message + 3] = 0x04 }
    let run = try MomentRun(front: TemporaryFile.make(bytes), back: MarkedClip(.blue).write())
    #expect(run.codes == [])
    #expect(run.choices(.deinterlacing).count == 1)
    #expect(run.plan?.clips.first { $0.role == .clipFront }?.mode == .encode)
    var frames = 0
    try run.video(.clipFront).forEachFrame { frame, _ in
      if frames >= progressive { #expect(Self.combedSamples(frame) < 20, "frame \(frames)") }
      frames += 1
    }
    #expect(frames == 150)
  }

  @Test("static content keeps every row")
  func still() throws {
    var clip = MarkedClip(.red, width: 288, height: 480, seconds: 5)
    clip.x264 = "bff=1"
    let run = try MomentRun(front: clip.write(), back: MarkedClip(.blue).write())
    #expect(run.choices(.deinterlacing).count == 1)
    var numbers: [Int?] = []
    try run.video(.clipFront).forEachFrame { frame, _ in numbers.append(CounterBlocks.read(frame)) }
    #expect(numbers == Array(0..<150))
  }

  @Test("progressive clips are copied unchanged")
  func progressive() throws {
    let run = try MomentRun(front: MarkedClip(.red).write(), back: MarkedClip(.blue).write())
    #expect(run.choices(.deinterlacing) == [])
    #expect(run.plan?.clips.map(\.mode) == [.remux, .remux])
  }
}
