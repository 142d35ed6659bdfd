package import Model

/// A track of a WebM, by its `TrackEntry` (RFC 9559, 5.1.4.1).
package struct WebMTrack: Hashable, Sendable {
  /// The number by which blocks name it.
  package let number: UInt64
  /// The type, in the form of a handler in MP4: `vide`, `soun`, `text`, `meta`.
  package let handler: BoxType
  /// FFmpeg's name of the codec of a video; of other codecs the id in the file, `V_THEORA`.
  package let codec: String
  /// The size of a frame; nil: not a video.
  package let size: Size?
  /// Whether its data are compressed or encrypted as a whole.
  package let isEncoded: Bool

  private static let codecs = [
    "V_VP8": "vp8", "V_VP9": "vp9", "V_AV1": "av1", "V_MPEG4/ISO/AVC": "h264", "V_MPEGH/ISO/HEVC": "hevc",
  ]

  // The ids of codecs have some twenty characters.
  private static let maxCodecBytes = 64
  // The largest edge of a frame in pixels, far beyond what decoders accept.
  private static let maxEdge: UInt64 = 1 << 20

  /// The tracks in the content of a `Tracks` element; nil if it is inconsistent.
  static func list(_ content: ArraySlice<UInt8>) -> [WebMTrack]? {
    guard let entries = Element.list(in: content)?.filter({ $0.id == .trackEntry }) else { return nil }
    var tracks: [WebMTrack] = []
    var numbers: Set<UInt64> = []
    for entry in entries {
      guard let track = WebMTrack(entry), numbers.insert(track.number).inserted else { return nil }
      tracks.append(track)
    }
    return tracks
  }

  private init?(_ entry: Element) {
    guard let elements = entry.children, let number = elements.first(.trackNumber)?.unsigned, number > 0,
      let type = elements.first(.trackType)?.unsigned
    else { return nil }
    self.number = number
    let id = elements.first(.codec)?.text(upTo: Self.maxCodecBytes) ?? ""
    codec = Self.codecs[id] ?? id
    isEncoded = elements.first(.contentEncodings) != nil
    switch type {
    case 1:
      guard let video = elements.first(.video)?.children, let width = video.first(.pixelWidth)?.unsigned,
        let height = video.first(.pixelHeight)?.unsigned, 1...Self.maxEdge ~= width, 1...Self.maxEdge ~= height
      else { return nil }
      handler = "vide"
      size = Size(width: Int(clamping: width), height: Int(clamping: height))
    case 2: (handler, size) = ("soun", nil)
    case 17: (handler, size) = ("text", nil)
    default: (handler, size) = ("meta", nil)
    }
  }
}
