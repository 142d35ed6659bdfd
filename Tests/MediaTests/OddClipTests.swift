import AV
import BoxTesting
import Kernels
import MediaFixtures
import Model
import Testing

@Suite("Odd clips", .tags(.media))
struct OddClipTests {
  @Test("columns that the bitstream crops on the left are not shown", arguments: [2, 14, 16, 34])
  func croppedLeft(columns: Int) throws {
    var clip = MarkedClip(.red, width: 320, height: 480)
    clip.croppedColumns = columns
    let run = try MomentRun(front: clip.write(), back: MarkedClip(.blue).write(), foreground: .back)
    #expect(run.codes == [])
    #expect(run.report.verdict.inputs[.front]?.facts.video.display == Size(width: 320 - columns, height: 480))
    var luma: Set<UInt8> = []
    try run.video(.clipFront).forEachPicture { picture, _ in
      for y in stride(from: 4, to: 60, by: 8) { luma.insert(picture.y[0, y]) }
    }
    #expect(luma.allSatisfy { $0 < 200 }, "white columns are shown: \(luma)")
    // The background's left edge, above the counter's blocks, shows the clip's colour as well.
    var whites = 0
    try run.video(.composed).forEachPicture { picture, _ in
      for y in stride(from: 200, to: 256, by: 8) where picture.y[0, y] > 200 { whites += 1 }
    }
    #expect(whites == 0)
  }

  @Test("the sound is that of the first track that its header enables")
  func enabledSound() throws {
    var clip = MarkedClip(.red, tone: .init(440))
    clip.secondTone = .init(1000)
    var bytes = try TemporaryFile.bytes(of: clip.write())
    // The second track of all is the first sound: its flags lie behind the version (ISO/IEC 14496-12, 8.3.2).
    let headers = bytes.indices.filter { bytes[$0...].starts(with: Array("tkhd".utf8)) }
    try #require(headers.count == 3)
    bytes[headers[1] + 7] &= ~1
    bytes[headers[2] + 7] |= 1
    let run = try MomentRun(front: TemporaryFile.make(bytes), back: MarkedClip(.blue).write())
    #expect(run.report.verdict.inputs[.front]?.facts.audio?.stream == 2)
    for role in [Role.composed, .clipFront] {
      let sound = try #require(try run.video(role).sound())
      #expect(sound.strength(of: 1000) > 0.3 && sound.strength(of: 440) < 0.1, "\(role.rawValue)")
    }
    // Where all are disabled, the first is as good as any.
    bytes[headers[2] + 7] &= ~1
    let silent = try MomentRun(front: TemporaryFile.make(bytes), back: MarkedClip(.blue).write())
    #expect(silent.report.verdict.inputs[.front]?.facts.audio?.stream == 1)
  }

  @Test(
    "times whose differences do not fit in 64 bits are refused",
    arguments: [[1 << 62, 5], [-(1 << 62), 1 << 62], [Int64.min + 2, 1 << 40]])
  func distantTimes(ticks: [Int64]) throws {
    let clip = try TemporaryFile.bytes(of: MarkedClip(.red).write())
    let near = try #require(fragmenting(clip, at: [0, 512]))
    let far = try #require(fragmenting(clip, at: ticks))
    let back = try MarkedClip(.blue).write()
    // Its edit list holds the second frame until the fifth second.
    #expect(try MomentRun(front: TemporaryFile.make(near), back: back).codes == [])
    let run = try MomentRun(front: TemporaryFile.make(far), back: back)
    #expect(run.codes == [.corruptVideo], "\(run.report.verdict.reasons)")
  }
}
