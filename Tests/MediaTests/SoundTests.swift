import AV
import MediaFixtures
import Model
import Testing

@Suite("Sound", .tags(.media))
struct SoundTests {
  @Test("PCM in a QuickTime file is heard, as AAC and in time")
  func uncompressed() throws {
    var front = MarkedClip(.red, tone: .init(440, sampleRate: 44_100, channels: 1, delay: 0.5))
    front.format = .mov
    front.tone?.encoder = "pcm_f32le"
    let run = try MomentRun(front: front.write(), back: MarkedClip(.blue, tone: .init(1000)).write())
    #expect(run.isAccepted)
    #expect(run.plan?.inputs[.front]?.facts.audio?.codec == "pcm_f32le")
    #expect(run.report.verdict.decisions.contains { $0.subject == .audio && $0.choice == "encode" })
    for role in [Role.composed, .clipFront] {
      let clip = try run.video(role)
      #expect(clip.stream(.audio)?.codec == "aac")
      let sound = try #require(try clip.sound())
      // A tenth of it is silence.
      #expect(sound.strength(of: 440) > 0.25)
      #expect(sound.strength(of: 1000) < 0.01)
      #expect(abs(try #require(sound.onset()) - 0.5) < 0.022)
    }
  }

  @Test("the first of several sounds is taken, and the log tells of the other")
  func severalStreams() throws {
    var front = MarkedClip(.red, tone: .init(440))
    front.secondTone = .init(3000)
    let run = try MomentRun(front: front.write(), back: MarkedClip(.blue).write())
    #expect(run.isAccepted)
    #expect(run.report.verdict.inputs[.front]?.facts.unusedStreams == ["2: aac"])
    #expect(run.report.verdict.decisions.contains { $0.subject == .unusedStreams && $0.choice.contains("2: aac") })
    for role in [Role.composed, .clipFront] {
      let sound = try #require(try run.video(role).sound())
      #expect(sound.strength(of: 440) > 0.3)
      #expect(sound.strength(of: 3000) < 0.01)
    }
  }
}
