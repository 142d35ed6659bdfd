import AV
import Glibc
import Kernels
import Platform
import SyntheticMedia
import Testing

@Suite("Clip writer", .tags(.media))
struct ClipWriterTests {
  private static let size = (width: 64, height: 96)

  /// The luma of a frame, different in each quarter, so that every orientation is recognisable.
  private static func brightness(x: Int, y: Int) -> UInt8 {
    let right = x >= size.width / 2
    let bottom = y >= size.height / 2
    return [40, 90, 150, 210][(right ? 1 : 0) + (bottom ? 2 : 0)]
  }

  /// Writes a clip of `frames` frames and returns the file.
  private func write(quarterTurns: Int, frames: Int) throws -> OpenFile {
    let path = "/tmp/take5-clip-\(getpid())-\(quarterTurns)-\(frames).mp4"
    defer { unlink(path) }
    let settings = ClipSettings(
      width: Self.size.width, height: Self.size.height, frameRate: 30, quarterTurns: quarterTurns,
      videoOptions: ["preset": "veryfast", "crf": "12"])
    let audio = StereoAudio(seconds: Double(frames) / 30) { time in (sin(2000 * time) * 0.5, 0) }
    let buffer = ImageBuffer(width: Self.size.width, height: Self.size.height)
    buffer.imagePlanes.fill(y: 0, u: 128, v: 128)
    for y in 0..<Self.size.height {
      for x in 0..<Self.size.width { buffer.imagePlanes.y[x, y] = Self.brightness(x: x, y: y) }
    }
    var writer = try ClipWriter(path: path, settings: settings, audio: audio)
    for _ in 0..<frames { try writer.write(buffer.imagePlanes.reading) }
    try writer.finish()
    return OpenFile(try Descriptor(reading: path))
  }

  private func open(_ file: OpenFile) throws -> Demuxer {
    try Demuxer(
      reading: file, limits: DemuxerLimits(streams: 4, codecs: ["h264", "aac"]), interrupt: Interrupt())
  }

  @Test("the display matrix maps the coded frame to the displayed one", arguments: 0..<4)
  func displayMatrix(quarterTurns: Int) throws {
    let demuxer = try open(write(quarterTurns: quarterTurns, frames: 3))
    let stream = try #require(demuxer.streams.first { $0.kind == .video })
    let decoder = try Decoder(
      stream: stream.index, of: demuxer, limits: DecoderLimits(codecs: ["h264"], pixels: 10_000))
    let packet = try Packet()
    let frame = try Frame()
    while try demuxer.read(into: packet) {
      guard packet.stream == stream.index else { continue }
      try decoder.send(packet)
      if try decoder.receive(into: frame) == .output { break }
    }
    if frame.width == 0 {
      try decoder.finish()
      let received = try decoder.receive(into: frame)
      #expect(received == .output)
    }
    let plane = frame.plane(0)
    let luma = try #require(plane)
    // ISO/IEC 14496-12, 6.2.2: x' = a x + c y + tx and y' = b x + d y + ty, for points between the pixels.
    let matrix = (stream.displayMatrix ?? [1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 30]).map { Int($0) }
    var wrong = 0
    for y in stride(from: 4, to: frame.height, by: 8) {
      for x in stride(from: 4, to: frame.width, by: 8) {
        let shownX = (matrix[0] * x + matrix[3] * y + matrix[6]) >> 16
        let shownY = (matrix[1] * x + matrix[4] * y + matrix[7]) >> 16
        let value = luma.base.load(fromByteOffset: y * luma.stride + x, as: UInt8.self)
        let expected = Self.brightness(x: min(shownX, Self.size.width - 1), y: min(shownY, Self.size.height - 1))
        let isNearEdge = abs(shownX - Self.size.width / 2) < 3 || abs(shownY - Self.size.height / 2) < 3
        if !isNearEdge && abs(Int(value) - Int(expected)) > 6 { wrong += 1 }
      }
    }
    #expect(wrong == 0)
    #expect((stream.width > stream.height) == (quarterTurns % 2 == 1))
  }

  @Test("audio and video have the same duration")
  func durations() throws {
    let demuxer = try open(write(quarterTurns: 0, frames: 45))
    for stream in demuxer.streams {
      let seconds = stream.timeBase.seconds(try #require(stream.duration))
      #expect(abs(seconds - 1.5) < 0.001, "\(stream.codec)")
    }
    #expect(demuxer.streams.map(\.codec).sorted() == ["aac", "h264"])
  }

  @Test("the same frames give the same bytes")
  func sameBytes() throws {
    let first = try write(quarterTurns: 1, frames: 8).descriptor.contents()
    #expect(try write(quarterTurns: 1, frames: 8).descriptor.contents() == first)
  }
}

extension Tag {
  /// Tests that encode or decode real media.
  @Tag static var media: Self
}
