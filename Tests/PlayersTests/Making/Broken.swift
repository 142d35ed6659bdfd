import AV
import MediaFixtures
import Model
import Platform

/// Files that are broken, each in a way of its own: no judge is worth anything that passes all of them.
enum Broken {
  /// What they are broken out of, and they themselves.
  static func outputs() throws -> (whole: [Output], broken: [Output]) {
    let clip = try MarkedClip(.red, seconds: 2, tone: .init(440)).write()
    let bytes = try TemporaryFile.bytes(of: clip)
    let photo = try PhotoFixture.jpeg(PhotoFixture.quarters(width: 400, height: 300))
    let webp = try PhotoFixture.photo(in: "webp")
    let avif = try PhotoFixture.photo(in: "avif")
    let place = try PhotoFixture.jpeg(
      PhotoFixture.quarters(width: 400, height: 300), exif: PhotoFixture.exif(orientation: 1, hasPlace: true))
    func video(_ name: String, _ bytes: [UInt8]) throws -> Output {
      var output = try Output(name, bytes, type: "video/mp4", width: 270, height: 480)
      (output.frames, output.seconds, output.soundSeconds) = (60, 2, 2)
      return output
    }
    func picture(_ name: String, _ bytes: [UInt8], _ type: String, _ width: Int, _ height: Int) throws -> Output {
      try Output(name, bytes, type: "image/\(type)", width: width, height: height)
    }
    let whole = [
      try video("whole", bytes), try picture("whole", photo, "jpeg", 400, 300),
      try picture("whole", webp, "webp", 96, 64),
      try picture("whole", avif, "avif", 96, 64),
    ]
    let broken = [
      try video("start codes instead of lengths", startCodes(clip, bytes)),
      try video("sound of no meaning", overwritten(clip, bytes, kind: .audio)),
      try video("frames of no meaning", overwritten(clip, bytes, kind: .video)),
      try video("cut off", Array(bytes.prefix(bytes.count * 2 / 3))),
      try picture("JPEG cut off", Array(photo.prefix(photo.count / 2)), "jpeg", 400, 300),
      try picture("JPEG of another size", photo, "jpeg", 300, 400),
      try picture("JPEG with a place", place, "jpeg", 400, 300),
      try picture("WebP cut off", Array(webp.prefix(webp.count / 2)), "webp", 96, 64),
      try picture("WebP with more behind it", webp + Array("no chunk at all".utf8), "webp", 96, 64),
      try picture("WebP of another size", webp, "webp", 64, 96),
      try picture("AVIF cut off", Array(avif.prefix(avif.count - 40)), "avif", 96, 64),
      try picture("AVIF of another size", avif, "avif", 64, 96),
    ]
    return (whole, broken)
  }

  /// The places of the packets of the first stream of a kind.
  private static func packets(_ kind: MediaKind, of clip: OpenFile) throws -> [Range<Int>] {
    let limits = DemuxerLimits(streams: 4, codecs: ["h264", "aac"])
    let demuxer = try Demuxer(reading: clip, limits: limits, interrupt: Interrupt())
    guard let stream = demuxer.streams.first(where: { $0.kind == kind }) else { return [] }
    demuxer.select([stream.index])
    let packet = try Packet()
    var places: [Range<Int>] = []
    while try demuxer.read(into: packet) {
      if let offset = packet.byteOffset.map(Int.init) { places.append(offset..<offset + packet.size) }
      packet.unreference()
    }
    return places
  }

  /// The clip with each length of a NAL unit written over by the start code of a byte stream (ITU-T H.264, annex B).
  private static func startCodes(_ clip: OpenFile, _ bytes: [UInt8]) throws -> [UInt8] {
    var bytes = bytes
    for place in try packets(.video, of: clip) {
      var offset = place.lowerBound
      while offset + 4 <= place.upperBound {
        let length = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
        bytes.replaceSubrange(offset..<offset + 4, with: [0, 0, 0, 1])
        offset += 4 + length
      }
    }
    return bytes
  }

  /// The clip with one packet in its middle written over.
  private static func overwritten(_ clip: OpenFile, _ bytes: [UInt8], kind: MediaKind) throws -> [UInt8] {
    var bytes = bytes
    let places = try packets(kind, of: clip)
    for index in places[places.count / 2].dropFirst(4) { bytes[index] = 0xFF }
    return bytes
  }
}
