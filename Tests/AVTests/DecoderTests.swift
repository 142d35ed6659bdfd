import AV
import MediaFixtures
import Platform
import Testing

@Suite("Decoder", .tags(.media))
struct DecoderTests {
  private static func decoder(
    _ demuxer: borrowing Demuxer, codecs: [String] = ["h264", "hevc", "aac"], pixels: Int = 1 << 20
  ) throws -> Decoder {
    try Decoder(stream: 0, of: demuxer, limits: DecoderLimits(codecs: codecs, pixels: pixels))
  }

  @Test(
    "decodes each frame with its timestamp and format",
    arguments: [MarkedClip.Codec.h264, .hevc, .hevc10, .vp8, .vp9, .av1])
  func frames(codec: MarkedClip.Codec) throws {
    var clip = MarkedClip(.red, seconds: 0.5, codec: codec)
    let isWebM = [.vp8, .vp9, .av1].contains(codec)
    if isWebM { clip.format = .webm }
    let codecs = ["h264", "hevc", "vp8", "vp9", "av1"]
    let demuxer = try Demuxer(
      reading: clip.write(), as: isWebM ? .webM : .isoBaseMedia, limits: DemuxerLimits(streams: 4, codecs: codecs),
      interrupt: Interrupt())
    let decoder = try Self.decoder(demuxer, codecs: codecs)
    let packet = try Packet()
    let frame = try Frame()
    var times: [Int64] = []
    var isReading = true
    // Ends: with the clip.
    loop: while true {
      switch try decoder.receive(into: frame) {
      case .output:
        times.append(frame.pts ?? -1)
        let (size, format, isDamaged) = ([frame.width, frame.height], frame.format, frame.isDamaged)
        #expect(size == [270, 480])
        #expect(format == (codec == .hevc10 ? .yuv420p10 : .yuv420p))
        #expect(!isDamaged)
      case .needsInput:
        isReading = try isReading && demuxer.read(into: packet)
        if isReading { try decoder.send(packet) } else { try decoder.finish() }
      case .ended: break loop
      }
    }
    // In milliseconds, or in ticks of a ninety-thousandth of a second.
    let expected = (0..<15).map { (frame: Int64) -> Int64 in isWebM ? (frame * 100 + 1) / 3 : frame * 3000 }
    #expect(times == expected)
  }

  @Test("refuses an audio frame with more samples than the limit")
  func samples() throws {
    let demuxer = try Demuxer(
      reading: MarkedClip(.red, seconds: 0.5, tone: .init(440)).write(),
      limits: DemuxerLimits(streams: 4, codecs: ["h264", "aac"]), interrupt: Interrupt())
    let streams = demuxer.streams
    let audio = try #require(streams.first { $0.kind == .audio }).index
    demuxer.select([audio])
    let packet = try Packet()
    let frame = try Frame()
    // A frame of AAC has 1024 samples for each channel, or 2048.
    for (samples, isAccepted) in [(8192, true), (1023, false)] {
      let decoder = try Decoder(
        stream: audio, of: demuxer, limits: DecoderLimits(codecs: ["aac"], pixels: 1, samples: samples))
      // The samples of the first frame are priming, which the decoder drops.
      var hasOutput = false
      for _ in 0..<4 where !hasOutput {
        guard try demuxer.read(into: packet) else { break }
        do {
          try decoder.send(packet)
          hasOutput = try decoder.receive(into: frame) == .output
        } catch {
          #expect(!isAccepted, "\(error)")
        }
      }
      #expect(hasOutput == isAccepted)
    }
  }

  @Test("refuses codecs and sizes that are not allowed")
  func limits() throws {
    let demuxer = try Demuxer(
      reading: MarkedClip(.red, seconds: 0.2).write(), limits: DemuxerLimits(streams: 4, codecs: ["h264"]),
      interrupt: Interrupt())
    #expect(throws: AVError.self) { _ = try Self.decoder(demuxer, codecs: ["hevc"]) }
    #expect(throws: AVError.self) { _ = try Self.decoder(demuxer, pixels: 1000) }
  }
}

extension Tag {
  /// Decodes or encodes media.
  @Tag static var media: Tag
}
