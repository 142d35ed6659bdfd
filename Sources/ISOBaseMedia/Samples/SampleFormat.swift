/// The codecs of sample entries (ISO/IEC 14496-12, 8.5.2; mp4ra.org; Apple, QuickTime File Format), by FFmpeg's names. Only
/// entries are listed whose codec follows from the type, or from an object type (ISO/IEC 14496-1, 7.2.6.6).
enum SampleFormat {
  private static let video: [BoxType: String] = [
    "avc1": "h264", "avc3": "h264", "hvc1": "hevc", "hev1": "hevc", "dvh1": "hevc", "dvhe": "hevc", "av01": "av1",
    "vp08": "vp8", "vp09": "vp9", "vvc1": "vvc1", "vvi1": "vvi1", "h263": "h263", "s263": "h263", "jpeg": "mjpeg",
    "mjpa": "mjpeg", "mjpb": "mjpegb", "apch": "prores", "apcn": "prores", "apcs": "prores", "apco": "prores",
    "ap4h": "prores", "ap4x": "prores", "cvid": "cinepak", "SVQ1": "svq1", "SVQ3": "svq3", "png ": "png",
    "rle ": "qtrle",
  ]

  // Of tracks with timed metadata, text and time codes, which no demuxer takes for video.
  private static let data: Set<BoxType> = [
    "mebx", "mett", "metx", "mp4s", "rtmd", "camm", "gpmd", "fdsc", "tmcd", "text", "tx3g", "wvtt", "stpp", "c608",
  ]

  /// The codec of a video track with a sample entry; nil if it is not certain.
  static func codec(ofVideo entry: Box) -> String? {
    if entry.type == "mp4v" { return objectType(of: entry) == 0x20 ? "mpeg4" : nil }
    return video[entry.type]
  }

  /// Whether a track is certainly no video, by its handler and its sample entry.
  static func isOther(_ entry: Box, handler: BoxType) -> Bool {
    handler == "soun" ? video[entry.type] == nil && entry.type != "mp4v" : data.contains(entry.type)
  }

  /// The object type in the `esds` box of a visual sample entry (ISO/IEC 14496-14, 5.6); nil without a valid one.
  private static func objectType(of entry: Box) -> UInt8? {
    let boxes = entry.children(after: 78).filter { $0.type == "esds" }
    guard boxes.count == 1, var bytes = boxes.first?.content.dropFirst(4), descriptor(&bytes) == 3 else { return nil }
    // The id of the elementary stream, and flags for further fields.
    guard let flags = bytes.dropFirst(2).first, flags & 0xE0 == 0 else { return nil }
    bytes = bytes.dropFirst(3)
    return descriptor(&bytes) == 4 ? bytes.first : nil
  }

  /// Reads the tag of a descriptor, and passes over its length (ISO/IEC 14496-1, 8.3.3).
  private static func descriptor(_ bytes: inout ArraySlice<UInt8>) -> UInt8? {
    let tag = bytes.popFirst()
    for _ in 0..<4 {
      guard let byte = bytes.popFirst(), byte & 0x80 != 0 else { break }
    }
    return tag
  }
}
