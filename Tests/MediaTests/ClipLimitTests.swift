import AV
import BoxTesting
import ISOBaseMedia
import MediaFixtures
import Model
import Platform
import Testing

@testable import Media

@Suite("Limits of clips", .tags(.media))
struct ClipLimitTests {
  private static func probe(_ bytes: [UInt8]) throws -> Result<ClipFacts, Reason> {
    try Prober(limits: MomentRun.definition().limits).probe(TemporaryFile.make(bytes), as: .clip)
  }

  private static func refusal(_ bytes: [UInt8]) throws -> ReasonCode? {
    if case .failure(let reason) = try probe(bytes) { return reason.code } else { return nil }
  }

  // 3GPP TS 26.244, 8.10: language, no name, role, coordinates, body, no notes.
  private static let location =
    [0, 0, 0, 0, 0x15, 0xC7, 0, 0] + [UInt8](repeating: 1, count: 12) + Array("earth\0\0".utf8)

  /// A small clip of which an edit list shows the last five seconds.
  private static func trimmed(hidden: Int) throws -> [UInt8] {
    let start = Double(hidden) / 1000
    var clip = MarkedClip(
      .red, width: 64, height: 64,
      times: (0..<hidden).map { Double($0) / 1000 } + (0..<150).map { start + Double($0) / 30 }, seconds: start + 5)
    clip.x264 = "keyint=100000"
    return try #require(
      editing([Edit(5, from: start)], ofTrack: 0, of: TemporaryFile.bytes(of: clip.write())))
  }

  @Test("a clip that begins with too many hidden frames is refused, as each is decoded")
  func hiddenAtTheStart() throws {
    #expect(try Self.refusal(Self.trimmed(hidden: 300)) == nil)
    #expect(try Self.refusal(Self.trimmed(hidden: 4200)) == .durationOutOfRange)
  }

  @Test("a clip with too many hidden frames between its shown ones is refused", arguments: [100, 150])
  func hiddenBetween(edits: Int) throws {
    // Each edit shows the last frame before a sync frame, for which the frames before it are decoded.
    let clip = MarkedClip(.red, width: 64, height: 64, seconds: 150)
    let shown = (0..<edits).map { Edit(5 / Double(edits), from: Double($0) + 29.0 / 30) }
    let bytes = try #require(editing(shown, ofTrack: 0, of: TemporaryFile.bytes(of: clip.write())))
    let code = try Self.refusal(bytes)
    #expect((code == .durationOutOfRange) == (edits == 150), "\(String(describing: code))")
  }

  @Test("a fragment that states more samples than a track may have is refused", arguments: [100, 1 << 21])
  func fragmentSamples(count: Int) throws {
    let clip = try TemporaryFile.bytes(of: MarkedClip(.red).write())
    var bytes = try #require(fragmenting(clip, at: [0, 512]))
    // The samples get a size and a duration by default (ISO/IEC 14496-12, 8.8.3).
    let defaults = try #require(bytes.firstRange(of: Array("trex".utf8))).upperBound
    bytes.replaceSubrange(defaults + 12..<defaults + 20, with: bigEndian(UInt32(512)) + bigEndian(UInt32(10)))
    // Without flags but that for the offset of the data, a run has no bytes for each sample.
    let run = try #require(bytes.firstRange(of: Array("trun".utf8))).upperBound
    bytes.replaceSubrange(run..<run + 8, with: [0, 0, 0, 1] + bigEndian(UInt32(count)))
    let file = try TemporaryFile.make(bytes)
    let source = InputSource(
      name: .clip, file: file, limits: try MomentRun.definition().limits, interrupt: Interrupt())
    let demuxer = try source.open()
    let packet = try Packet()
    var code: ReasonCode?
    do {
      _ = try source.read(demuxer, into: packet)
    } catch {
      if case .refused(let reason) = error { code = reason.code }
    }
    #expect(code == (count > TrackTable.maxSamples ? .corruptVideo : nil))
  }

  /// A QuickTime file with PCM audio of one channel.
  private static func uncompressed(sampleRate: Int) throws -> MarkedClip {
    var clip = MarkedClip(.red, tone: .init(440, sampleRate: sampleRate, channels: 1))
    clip.format = .mov
    clip.tone?.encoder = "pcm_f32le"
    return clip
  }

  @Test("audio of a sample rate that no recording has is not used", arguments: [1000, 3999, 4000])
  func sampleRate(rate: Int) throws {
    let facts = try Self.probe(TemporaryFile.bytes(of: Self.uncompressed(sampleRate: rate).write())).get()
    #expect((facts.audio != nil) == (rate >= 4000))
  }

  @Test("audio whose sample rate becomes one that no recording has is damaged from there on")
  func sampleRateOfFrames() throws {
    let file = try Self.uncompressed(sampleRate: 1000).write()
    let source = InputSource(
      name: .clip, file: file, limits: try MomentRun.definition().limits, interrupt: Interrupt())
    let reader = try AudioReader(source, stream: 1, rate: 8000, origin: 0, maxSeconds: 5)
    try reader.run()
    #expect(reader.damage == 0 && reader.mixed.isEmpty)
  }

  @Test("the first four audio streams are tried", arguments: [3, 4])
  func audioStreams(unusable: Int) throws {
    var clip = try Self.uncompressed(sampleRate: 1000)
    clip.secondTone = .init(440, sampleRate: 8000, channels: 1)
    clip.secondTone?.encoder = "pcm_f32le"
    // The usable stream is disabled, so that it is tried last, and so is the video, without which it would not be tried.
    var bytes = try #require(enabling([false, true, false], of: TemporaryFile.bytes(of: clip.write())))
    let video = try #require(bytes.firstRange(of: Array("trak".utf8))).upperBound
    let audio = try #require(bytes[video...].firstRange(of: Array("trak".utf8))).lowerBound - 4
    let size = bytes[audio..<audio + 4].reduce(0) { $0 << 8 | Int($1) }
    let track = Array(bytes[audio..<audio + size])
    for _ in 1..<unusable { bytes = try #require(inserting(track, into: ["moov"], of: bytes)) }
    #expect(try (Self.probe(bytes).get().audio != nil) == (unusable < 4))
  }

  @Test("audio that starts after the first packets is not found", arguments: [1.0, 3.0])
  func audioPackets(delay: Double) throws {
    let clip = MarkedClip(.red, width: 64, height: 64, framesPerSecond: 240, tone: .init(440, delay: delay))
    #expect(try (Self.probe(TemporaryFile.bytes(of: clip.write())).get().audio != nil) == (delay < 2))
  }

  @Test("metadata behind 16 MiB of a movie box are not read", arguments: [0, 16 << 20])
  func movieBytes(padding: Int) throws {
    let clip = try TemporaryFile.bytes(of: MarkedClip(.red, width: 64, height: 64).write())
    let free = box("free", [UInt8](repeating: 0, count: padding))
    let padded = try #require(inserting(free, into: ["moov"], of: clip))
    let bytes = try #require(inserting(box("udta", box("loci", Self.location)), into: ["moov"], of: padded))
    #expect(try Self.probe(bytes).get().identifying.isEmpty == (padding > 0))
  }

  @Test("boxes in front of the tracks hide neither Dolby Vision nor metadata", arguments: [0, 5000])
  func boxesBeforeTracks(count: Int) throws {
    let clip = try TemporaryFile.bytes(of: MarkedClip(.red, width: 64, height: 64).write())
    let padding = (0..<count).flatMap { _ in box("free") }
    let vision = box("dvcC", [1, 0, 5 << 1, 0, 0] + [UInt8](repeating: 0, count: 19))
    let path = ["moov", "trak", "mdia", "minf", "stbl", "stsd", "avc1"]
    let unviewable = try #require(inserting(vision, into: path, of: clip))
    #expect(try Self.refusal(#require(insertingBeforeTracks(padding, of: unviewable))) == .unsupportedCodec)
    let placed = try #require(inserting(box("udta", box("loci", Self.location)), into: ["moov"], of: clip))
    let facts = try Self.probe(#require(insertingBeforeTracks(padding, of: placed))).get()
    #expect(facts.identifying.map(\.kind) == [.place])
  }

  @Test("an allocation beyond the limit of the libraries fails")
  func allocation() throws {
    MediaLibraries.configure()
    _ = try Frame(width: 13_000, height: 13_000, format: .rgb24)
    do {
      _ = try Frame(width: 14_000, height: 14_000, format: .rgb24)
      Issue.record("588 MB were allocated")
    } catch {
      #expect(error.isOutOfMemory)
    }
  }

  @Test("frames of fewer pixels than the scaler needs are refused", arguments: [14, 16])
  func minEdge(edge: Int) throws {
    let code = try Self.refusal(TemporaryFile.bytes(of: MarkedClip(.red, width: edge, height: 64).write()))
    #expect(code == (edge < 16 ? .unsupportedCodec : nil))
  }
}
