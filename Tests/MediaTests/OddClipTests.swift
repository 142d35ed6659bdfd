import AV
import BoxTesting
import Kernels
import MediaFixtures
import Model
import Platform
import Testing

@Suite("Unusual clips", .tags(.media))
struct OddClipTests {
  @Test("columns that the bitstream crops on the left are not shown", arguments: [2, 14, 16, 34])
  func croppedLeft(columns: Int) throws {
    var clip = MarkedClip(.red, width: 320, height: 480)
    clip.croppedColumns = columns
    let run = try MomentRun(front: clip.write(), back: MarkedClip(.blue).write(), foreground: .back)
    #expect(run.codes == [])
    #expect(run.report.verdict.inputs[.front]?.facts.video.display == Size(width: 320 - columns, height: 480))
    var luma: Set<UInt8> = []
    try run.video(.clipFront).forEachFrame { frame, _ in
      for y in stride(from: 4, to: 60, by: 8) { luma.insert(frame.y[0, y]) }
    }
    #expect(luma.allSatisfy { $0 < 200 }, "white columns are shown: \(luma)")
    // The left edge of the background above the counter must show the clip's colour, too.
    var whites = 0
    try run.video(.composed).forEachFrame { frame, _ in
      for y in stride(from: 200, to: 256, by: 8) where frame.y[0, y] > 200 { whites += 1 }
    }
    #expect(whites == 0)
  }

  @Test("the first enabled track has the audio")
  func enabledSound() throws {
    var clip = MarkedClip(.red, tone: .init(440))
    clip.secondTone = .init(1000)
    var bytes = try TemporaryFile.bytes(of: clip.write())
    // The second track is the first audio track; its flags follow the version (ISO/IEC 14496-12, 8.3.2).
    let headers = bytes.indices.filter { bytes[$0...].starts(with: Array("tkhd".utf8)) }
    try #require(headers.count == 3)
    bytes[headers[1] + 7] &= ~1
    bytes[headers[2] + 7] |= 1
    let run = try MomentRun(front: TemporaryFile.make(bytes), back: MarkedClip(.blue).write())
    #expect(run.report.verdict.inputs[.front]?.facts.audio?.stream == 2)
    for role in [Role.composed, .clipFront] {
      let audio = try #require(try run.video(role).audio())
      #expect(audio.strength(of: 1000) > 0.3 && audio.strength(of: 440) < 0.1, "\(role.rawValue)")
    }
    // If all audio tracks are disabled, the clip is muted.
    bytes[headers[2] + 7] &= ~1
    let muted = try MomentRun(
      front: TemporaryFile.make(bytes), back: MarkedClip(.blue, tone: .init(700)).write())
    #expect(muted.report.verdict.inputs[.front]?.facts.audio == nil && muted.warnings == [])
    #expect(try #require(try muted.video(.composed).audio()).strength(of: 700) > 0.3)
    #expect(try muted.video(.clipFront).audio() == nil)
    #expect(
      muted.report.verdict.decisions.contains {
        $0.reason.hasPrefix("the foreground has no enabled sound: the other's")
      })
    // If the video is disabled too, the flags mean nothing.
    bytes[headers[0] + 7] &= ~1
    let flagless = try MomentRun(front: TemporaryFile.make(bytes), back: MarkedClip(.blue).write())
    #expect(flagless.report.verdict.inputs[.front]?.facts.audio?.stream == 1)
  }

  @Test(
    "times whose differences do not fit in 64 bits are refused",
    arguments: [[1 << 62, 5], [-(1 << 62), 1 << 62], [Int64.min + 2, 1 << 40]])
  func distantTimes(ticks: [Int64]) throws {
    let clip = try TemporaryFile.bytes(of: MarkedClip(.red).write())
    let near = try #require(fragmenting(clip, at: [0, 512]))
    let far = try #require(fragmenting(clip, at: ticks))
    let back = try MarkedClip(.blue).write()
    // The edit list holds the second frame until the fifth second.
    #expect(try MomentRun(front: TemporaryFile.make(near), back: back).codes == [])
    let run = try MomentRun(front: TemporaryFile.make(far), back: back)
    #expect(run.codes == [.corruptVideo], "\(run.report.verdict.reasons)")
  }
}

@Suite("Audio", .tags(.media))
struct AudioTests {
  /// A clip whose audio has another sample entry: `fLaC`, or `ipcm` with the box for uncompressed audio in place of `esds`.
  private static func clip(soundAs entry: String, bits: UInt8? = nil) throws -> OpenFile {
    var bytes = try TemporaryFile.bytes(of: MarkedClip(.red, tone: .init(440)).write())
    let name = try #require(bytes.firstRange(of: Array("mp4a".utf8)))
    bytes.replaceSubrange(name, with: Array(entry.utf8))
    let box = try #require(bytes.firstRange(of: Array("esds".utf8)))
    bytes.replaceSubrange(box, with: Array((bits == nil ? "free" : "pcmC").utf8))
    if let bits { bytes.replaceSubrange(box.upperBound..<box.upperBound + 6, with: [0, 0, 0, 0, 1, bits]) }
    return try TemporaryFile.make(bytes)
  }

  @Test(
    "audio that cannot be decoded is left out with a warning, and the decision does not call it silence",
    arguments: [("fLaC", nil, "flac")] + (Library.readsSoundOf24Bits ? [] : [("ipcm", 24, "pcm_s24le")])
      as [(String, UInt8?, String)])
  func unsupported(entry: String, bits: UInt8?, codec: String) throws {
    let run = try MomentRun(
      front: Self.clip(soundAs: entry, bits: bits), back: MarkedClip(.blue, tone: .init(1000)).write())
    #expect(run.isAccepted && run.warnings == [.unsupportedAudio])
    #expect(
      run.report.verdict.warnings.map(\.detail) == [
        "Its audio (\(codec)) cannot be decoded and is left out. Film with the phone's usual settings."
      ])
    #expect(
      run.report.verdict.decisions.contains {
        $0.subject == .audio && $0.reason.hasPrefix("the foreground's sound (\(codec)) cannot be decoded: the other's")
      })
    #expect(try #require(try run.video(.composed).audio()).strength(of: 1000) > 0.3)
    #expect(try run.video(.clipFront).audio() == nil)
  }

  @Test(
    "uncompressed audio that is read as what it is, is used",
    arguments: Library.readsSoundOf24Bits ? [16, 24] : [16] as [UInt8])
  func supported(bits: UInt8) throws {
    let run = try MomentRun(front: Self.clip(soundAs: "ipcm", bits: bits), back: MarkedClip(.blue).write())
    #expect(run.report.verdict.inputs[.front]?.facts.audio?.codec == "pcm_s\(bits)le")
  }

  @Test("PCM audio of a QuickTime file becomes AAC and stays in sync")
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
      let audio = try #require(try clip.audio())
      // A tenth of the audio is silence.
      #expect(audio.strength(of: 440) > 0.25)
      #expect(audio.strength(of: 1000) < 0.01)
      #expect(abs(try #require(audio.onset()) - 0.5) < 0.022)
    }
  }

  @Test("the first of several audio streams is used, and the decisions name the others")
  func severalStreams() throws {
    var front = MarkedClip(.red, tone: .init(440))
    front.secondTone = .init(3000)
    let run = try MomentRun(front: front.write(), back: MarkedClip(.blue).write())
    #expect(run.isAccepted)
    #expect(run.report.verdict.inputs[.front]?.facts.unusedStreams == ["2: aac"])
    #expect(run.report.verdict.decisions.contains { $0.subject == .unusedStreams && $0.choice.contains("2: aac") })
    for role in [Role.composed, .clipFront] {
      let audio = try #require(try run.video(role).audio())
      #expect(audio.strength(of: 440) > 0.3)
      #expect(audio.strength(of: 3000) < 0.01)
    }
  }
}
