import BoxTesting
import Glibc
import HTTPTesting
import MediaFixtures
import Platform
import PostgresTesting
import Stills
import Take5Testing
import Testing

/// Media that refer to a file and to an address of the machine, in the forms that demuxers and decoders know.
struct ReferencingMedia: Sendable {
  let name: String
  let bytes: [UInt8]

  /// Makes a file of each form.
  static func all(referringTo bait: Bait) throws -> [ReferencingMedia] {
    let clip = try TemporaryFile.bytes(of: Clips.front.write())
    var image = try #require(HEIFFile(extractingFrom: PhotoFixture.photo(in: "heic")))
    image.dataReference = urlReference("file://\(bait.path)")
    let playlist = Array(playlist(of: ["file://\(bait.path)", bait.path, bait.address], bait).utf8)
    let reference = urlReference("file://\(bait.path)").dropFirst(12)
    let alternate = box(
      "rmra",
      box("rmda", box("rdrf", [0, 0, 0, 0], Array("url ".utf8), bigEndian(UInt32(reference.count)), reference + [])))
    let media: [(String, [UInt8]?)] = [
      ("an HLS playlist", playlist),
      ("an HLS playlist with nested protocols", Array(Self.playlist(of: bait.nested, bait).utf8)),
      ("an HLS playlist behind a file type box", fileType("isom") + playlist),
      ("an HLS playlist in an MP4", fileType("isom") + movie("vide", "soun") + box("mdat", playlist)),
      ("an ffconcat script", Array(concatenation(of: ["bait.mp4"]).utf8)),
      ("an ffconcat script with nested protocols", Array(concatenation(of: [bait.path] + bait.nested).utf8)),
      ("an SDP", Array(session(bait).utf8)),
      ("a DASH manifest of a file", Array(manifest(at: "file://\(bait.path)").utf8)),
      ("a DASH manifest of an address", Array(manifest(at: bait.address).utf8)),
      ("an SVG", Array(drawing(bait).utf8)),
      ("a clip with an alias", referring(aliasReference(to: bait.path, isRelative: false), of: clip)),
      ("a clip with a relative alias", referring(aliasReference(to: bait.path, isRelative: true), of: clip)),
      ("a clip with the URL of a file", referring(urlReference("file://\(bait.path)"), of: clip)),
      ("a clip with an HTTP URL", referring(urlReference(bait.address), of: clip)),
      ("a reference movie", fileType("qt  ") + box("moov", alternate)),
      ("a clip with a reference movie", inserting(alternate, into: ["moov"], of: clip)),
      ("a HEIC with the URL of a file", image.bytes),
    ]
    return try media.map { ReferencingMedia(name: $0, bytes: try #require($1, "\($0)")) }
  }

  /// An HLS playlist (RFC 8216).
  private static func playlist(of references: [String], _ bait: Bait) -> String {
    "#EXTM3U\n#EXT-X-VERSION:7\n#EXT-X-TARGETDURATION:5\n#EXT-X-MAP:URI=\"\(bait.path)\"\n"
      + "#EXT-X-KEY:METHOD=AES-128,URI=\"\(bait.path)\"\n" + references.map { "#EXTINF:5,\n\($0)\n" }.joined()
      + "#EXT-X-ENDLIST\n"
  }

  /// A script of FFmpeg's concat demuxer, which reads none of its files if one of the names is not a relative one.
  private static func concatenation(of references: [String]) -> String {
    "ffconcat version 1.0\n" + references.map { "file '\($0)'\n" }.joined()
  }

  /// A session description (RFC 8866).
  private static func session(_ bait: Bait) -> String {
    "v=0\r\no=- 0 0 IN IP4 127.0.0.1\r\ns=x\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\n"
      + "a=control:rtsp://127.0.0.1:\(bait.port)/x\r\nm=video \(bait.port) RTP/AVP 96\r\na=rtpmap:96 H264/90000\r\n"
  }

  /// A media presentation description (ISO/IEC 23009-1).
  private static func manifest(at url: String) -> String {
    """
    <?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-main:2011"
    type="static" mediaPresentationDuration="PT5S"><Period><AdaptationSet mimeType="video/mp4">
    <Representation id="1" bandwidth="1"><BaseURL>\(url)</BaseURL><SegmentList duration="5">
    <Initialization sourceURL="bait.mp4"/><SegmentURL media="bait.mp4"/></SegmentList></Representation></AdaptationSet>
    </Period></MPD>
    """
  }

  /// A drawing with an external entity and linked images.
  private static func drawing(_ bait: Bait) -> String {
    """
    <?xml version="1.0"?><!DOCTYPE svg [<!ENTITY e SYSTEM "file://\(bait.path)">]>
    <svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"><text>&e;</text>
    <image xlink:href="file://\(bait.path)"/><image xlink:href="\(bait.address)"/></svg>
    """
  }
}

/// A valid clip and a listening address, which media refer to and nothing may open.
struct Bait: Sendable {
  let path: String
  let port: UInt16
  private let listener: OpenFile

  init(in folder: TemporaryFolder) throws {
    path = try Clips.write(Clips.back, "bait.mp4", in: folder)
    (listener, port) = try LocalSocket.listening()
    _ = fcntl(listener.descriptor.number, F_SETFL, O_NONBLOCK)
  }

  /// The URL of the address.
  var address: String { "http://127.0.0.1:\(port)/bait.mp4" }

  /// The file and the address by protocols of FFmpeg that contain others, or that no container needs.
  var nested: [String] {
    [
      "concat:\(path)|\(path)", "subfile,,start,0,end,1000,,:\(path)", "crypto:\(path)", "async:\(path)",
      "tcp://127.0.0.1:\(port)", "file:///etc/passwd",
    ]
  }

  /// Whether a call names the file, under any folder, or the address.
  func isNamed(in call: SystemCallTrace.Call) -> Bool {
    ["bait.mp4", "/etc/passwd", "htons(\(port))"].contains { call.description.contains($0) }
  }

  /// Whether a connection was made to the address.
  var wasReached: Bool {
    let number = accept(listener.descriptor.number, nil, nil)
    if number >= 0 { close(number) }
    return number >= 0
  }
}
