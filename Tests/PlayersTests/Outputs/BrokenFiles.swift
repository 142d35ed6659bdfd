import AV
import MediaFixtures
import Model
import Platform

/// Files with different kinds of damage, which show that each program can fail.
enum BrokenFiles {
  /// Returns the original files and the broken ones.
  static func outputs() throws -> (intact: [Output], broken: [Output]) {
    let clip = try MarkedClip(.red, seconds: 2, tone: .init(440)).write()
    let bytes = try TemporaryFile.bytes(of: clip)
    let photo = try PhotoFixture.jpeg(PhotoFixture.quarters(width: 400, height: 300))
    let webp = try PhotoFixture.photo(in: "webp")
    let avif = try PhotoFixture.photo(in: "avif")
    let located = try PhotoFixture.jpeg(
      PhotoFixture.quarters(width: 400, height: 300), exif: PhotoFixture.exif(orientation: 1, hasPosition: true))
    func video(_ name: String, _ bytes: [UInt8]) throws -> Output {
      var output = try Output(name, bytes, type: "video/mp4", width: 270, height: 480)
      (output.frames, output.seconds, output.audioSeconds) = (60, 2, 2)
      return output
    }
    func image(_ name: String, _ bytes: [UInt8], _ type: String, _ width: Int, _ height: Int) throws -> Output {
      try Output(name, bytes, type: "image/\(type)", width: width, height: height)
    }
    let intact = [
      try video("intact", bytes), try image("intact", photo, "jpeg", 400, 300),
      try image("intact", webp, "webp", 96, 64),
      try image("intact", avif, "avif", 96, 64),
    ]
    let broken = [
      try video("start codes instead of lengths", startCodes(clip, bytes)),
      try video("audio packet overwritten", overwritten(clip, bytes, kind: .audio)),
      try video("video packet overwritten", overwritten(clip, bytes, kind: .video)),
      try video("truncated", Array(bytes.prefix(bytes.count * 2 / 3))),
      try image("JPEG truncated", Array(photo.prefix(photo.count / 2)), "jpeg", 400, 300),
      try image("JPEG of another size", photo, "jpeg", 300, 400),
      try image("JPEG with a position", located, "jpeg", 400, 300),
      try image("WebP truncated", Array(webp.prefix(webp.count / 2)), "webp", 96, 64),
      try image("WebP with trailing bytes", webp + Array("no chunk at all".utf8), "webp", 96, 64),
      try image("WebP of another size", webp, "webp", 64, 96),
      try image("AVIF truncated", Array(avif.prefix(avif.count - 40)), "avif", 96, 64),
      try image("AVIF of another size", avif, "avif", 64, 96),
    ]
    return (intact, broken)
  }

  /// Returns the byte ranges of the packets of the first stream of a kind.
  private static func packets(_ kind: MediaKind, of clip: OpenFile) throws -> [Range<Int>] {
    let limits = DemuxerLimits(streams: 4, codecs: ["h264", "aac"])
    let demuxer = try Demuxer(reading: clip, limits: limits, interrupt: Interrupt())
    guard let stream = demuxer.streams.first(where: { $0.kind == kind }) else { return [] }
    demuxer.select([stream.index])
    let packet = try Packet()
    var ranges: [Range<Int>] = []
    while try demuxer.read(into: packet) {
      if let offset = packet.byteOffset.map(Int.init) { ranges.append(offset..<offset + packet.size) }
      packet.unreference()
    }
    return ranges
  }

  /// Returns the clip with the length of each NAL unit replaced by a start code (ITU-T H.264, annex B).
  private static func startCodes(_ clip: OpenFile, _ bytes: [UInt8]) throws -> [UInt8] {
    var bytes = bytes
    for range in try packets(.video, of: clip) {
      var offset = range.lowerBound
      while offset + 4 <= range.upperBound {
        let length = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
        bytes.replaceSubrange(offset..<offset + 4, with: [0, 0, 0, 1])
        offset += 4 + length
      }
    }
    return bytes
  }

  /// Returns the clip with one packet in its middle overwritten.
  private static func overwritten(_ clip: OpenFile, _ bytes: [UInt8], kind: MediaKind) throws -> [UInt8] {
    var bytes = bytes
    let ranges = try packets(kind, of: clip)
    for index in ranges[ranges.count / 2].dropFirst(4) { bytes[index] = 0xFF }
    return bytes
  }
}
