import AV
import BoxTesting
import MediaFixtures
import MediaMutation
import Model
import Testing

@testable import Media

@Suite("Damaged audio", .tags(.media))
struct DamagedAudioTests {
  @Test("samples that are no numbers or without bounds become silence", arguments: [Double.nan, .infinity, 1e30])
  func boundless(level: Double) throws {
    var front = MarkedClip(.red, tone: .init(440, channels: 1))
    front.format = .mov
    front.tone?.encoder = "pcm_f32le"
    front.tone?.level = level
    let run = try MomentRun(front: front.write(), back: MarkedClip(.blue).write())
    #expect(run.codes == [])
    let audio = try #require(try run.video(.composed).audio())
    #expect(audio.strength(of: 440) < 0.01)
  }

  @Test("a frame of AAC that begins with the syncword of ADTS is left out of a copy, and the rest is in sync")
  func syncword() throws {
    let clip = MarkedClip(.red, tone: .init(440))
    var movie = try #require(SampledMovie(try TemporaryFile.bytes(of: clip.write())))
    let track = try #require(movie.tracks.firstIndex { $0.entry == "mp4a" })
    movie.tracks[track].samples[100].bytes = [0xFF, 0xF1, 0x4C, 0x80, 1, 2, 3]
    let run = try MomentRun(front: TemporaryFile.make(movie.bytes), back: MarkedClip(.blue).write())
    #expect(run.codes == [])
    #expect(run.plan?.clips.first?.audio?.mode == .copy)
    let copied = try #require(SampledMovie(try run.bytes(.clipFront)))
    let samples = try #require(copied.tracks.first { $0.entry == "mp4a" }).samples
    #expect(samples.allSatisfy { !$0.bytes.starts(with: [0xFF, 0xF1]) })
    let seconds = try #require(try run.video(.clipFront).audio()).start
    #expect(abs(seconds) < 0.05)
    let ticks = samples.reduce(0) { $0 + $1.duration }
    #expect(abs(Double(ticks) / 48_000 - 5) < 0.1)
  }

  @Test("a frame of AAC whose channels no recording has becomes a gap, and the rest is in sync")
  func channels() throws {
    let clip = MarkedClip(.red, tone: .init(440))
    var movie = try #require(SampledMovie(try TemporaryFile.bytes(of: clip.write())))
    let track = try #require(movie.tracks.firstIndex { $0.entry == "mp4a" })
    // FFmpeg's decoder takes it as a subwoofer with two channels on the sides, and all following frames too.
    movie.tracks[track].samples[100].bytes = [0, 0, 0, 5, 6, 1, 1] + [UInt8](repeating: 0xFF, count: 600)
    // In this time scale the audio is encoded, not copied.
    let bytes = try #require(scaling(to: 48_001, ofTrack: 1, of: movie.bytes))
    let run = try MomentRun(front: TemporaryFile.make(bytes), back: MarkedClip(.blue).write())
    #expect(run.codes == [])
    let audio = try #require(try run.video(.composed).audio())
    #expect(abs(audio.start) < 0.05)
    #expect(audio.strength(of: 440) > 0.05)
  }

  @Test(
    "audio whose timestamps do not count its samples is encoded, not copied",
    arguments: [113_536, 569_757_106, 2_147_483_647])
  func timeScale(ticks: Int) throws {
    let bytes = try TemporaryFile.bytes(of: MarkedClip(.red, tone: .init(440)).write())
    let clip = try #require(scaling(to: ticks, ofTrack: 1, of: bytes))
    let run = try MomentRun(front: TemporaryFile.make(clip), back: MarkedClip(.blue).write())
    #expect(run.codes == [])
    #expect(run.plan?.clips.first?.audio?.mode == .encode)
    #expect(try run.video(.clipFront).audio() != nil)
  }

  @Test("a clip without a current frame has a decoded duration of 0")
  func beforeFirstFrame() throws {
    let clip = try #require(EditedClip.all.first { $0.description == "an empty edit in front" })
    let moment = try PlannedMoment(front: TemporaryFile.make(clip.bytes()), back: MarkedClip(.blue).write())
    let reader = try #require(try moment.openClips().clips.first { $0.reader.source.name == .front }).reader
    try reader.start()
    #expect(try #require(reader.startSeconds) > 0.4)
    #expect(reader.decodedSeconds == 0)
  }
}
