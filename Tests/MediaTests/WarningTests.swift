import AV
import Media
import MediaFixtures
import Model
import Testing

@Suite("Warnings", .tags(.media))
struct WarningTests {
  @Test("sound clips have none")
  func none() throws {
    let run = try MomentRun(
      front: MarkedClip(.red, tone: .init(440)).write(), back: MarkedClip(.blue, codec: .hevc10).write())
    #expect(run.isAccepted && run.report.verdict.warnings == [])
  }

  @Test(
    "a camera that is covered, or stands still, shows",
    arguments: [([64, 66] as [UInt16], WarningCode.blackVideo), ([300, 700], .frozenVideo)])
  func pictures(stripes: [UInt16], code: WarningCode) throws {
    var clip = MarkedClip(.red, codec: .hevc10)
    clip.stripes = stripes
    let run = try MomentRun(front: clip.write(), back: MarkedClip(.blue).write())
    #expect(run.isAccepted)
    #expect(run.report.verdict.warnings.map(\.code) == [code])
    #expect(run.report.verdict.warnings.first?.input == .front)
  }

  @Test("a microphone that hears nothing shows")
  func silence() throws {
    var tone = MarkedClip.Tone(440)
    tone.level = 0
    let run = try MomentRun(front: MarkedClip(.red).write(), back: MarkedClip(.blue, tone: tone).write())
    #expect(run.warnings == [.silentSound])
  }

  @Test("sound that cannot be decoded is told with its place, and costs no refusal")
  func damagedSound() throws {
    let clip = MarkedClip(.red, tone: .init(440, channels: 1))
    let file = try clip.write()
    var bytes = try TemporaryFile.bytes(of: file)
    let demuxer = try Demuxer(reading: file, limits: DemuxerLimits(streams: 4, codecs: ["aac"]), interrupt: Interrupt())
    let sound = try #require(demuxer.streams.first { $0.kind == .audio })
    demuxer.select([sound.index])
    let packet = try Packet()
    while try demuxer.read(into: packet) {
      guard let offset = packet.byteOffset, sound.timeBase.seconds(packet.pts ?? 0) > 2 else { continue }
      for index in 0..<packet.size { bytes[Int(offset) + index] = 0xFF }
      break
    }
    let run = try MomentRun(front: TemporaryFile.make(bytes), back: MarkedClip(.blue).write())
    #expect(run.isAccepted)
    let warning = try #require(run.report.verdict.warnings.first { $0.code == .damagedSound })
    #expect(abs(try #require(warning.seconds) - 2) < 0.1)
  }
}
