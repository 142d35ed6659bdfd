import Glibc
package import Model

/// What a `moov` box says for certain about the video of a clip, so that a demuxer finds the same, whatever it makes of boxes
/// that are unusual, doubled or misplaced.
package struct VideoTracks: Sendable {
  /// One video track.
  package struct Track: Sendable {
    /// FFmpeg's name of the codec.
    package let codec: String
    /// The coded size of a frame.
    package let size: Size
    package let dolbyVision: TrackMetadata.DolbyVision?
    /// The sample tables; nil if they are unusual.
    package let samples: SampleRuns?
  }

  /// The tracks with the handler `vide`, in order; at least one.
  package let tracks: [Track]

  /// Reads the content of a `moov` box whose structure is valid; nil if anything about its tracks is uncertain.
  package init?(movie content: [UInt8]) {
    let movie = Box(type: "moov", content: content[...])
    let boxes = movie.children().filter { $0.type == "trak" }
    let descriptions = boxes.compactMap(Description.init)
    // A demuxer also reads boxes in places where they do not belong. A movie may be hidden in another box, or compressed.
    guard descriptions.count == boxes.count, movie.count(of: "trak") == boxes.count,
      movie.count(of: "stsd") == boxes.count, movie.count(of: "mvhd") == 1, movie.count(of: "cmov") == 0,
      // These change the codec of a track.
      ["esds", "frma"].allSatisfy({ type in
        movie.count(of: type) == descriptions.reduce(0) { $0 + $1.allowedCount(of: type) }
      })
    else { return nil }
    let header = movie.child("mvhd")?.reader
    let timescale = header?.unsigned32(at: header?.byte(at: 0) == 1 ? 20 : 12) ?? 0
    let isUsual = Description.tables.allSatisfy { type in
      let counts = descriptions.map { $0.count(of: type) }
      return counts.allSatisfy { $0 <= 1 } && movie.count(of: type) == counts.reduce(0, +)
    }
    var tracks: [Track] = []
    for description in descriptions {
      guard description.handler == "vide" else {
        guard SampleFormat.isOther(description.entry, handler: description.handler) else { return nil }
        continue
      }
      let reader = description.entry.reader
      guard let codec = SampleFormat.codec(ofVideo: description.entry), let width = reader.unsigned16(at: 24),
        let height = reader.unsigned16(at: 26)
      else { return nil }
      tracks.append(
        Track(
          codec: codec, size: Size(width: Int(width), height: Int(height)),
          dolbyVision: TrackMetadata(description.track, movieTimescale: timescale).dolbyVision,
          samples: isUsual ? SampleRuns(track: description.track, movieTimescale: timescale) : nil))
    }
    guard !tracks.isEmpty else { return nil }
    self.tracks = tracks
  }

  /// A track with one handler and one sample entry.
  private struct Description {
    let track: Box
    let handler: BoxType
    let table: Box
    let entry: Box

    init?(_ track: Box) {
      guard let media = track.only("mdia"), let handler = media.only("hdlr")?.reader.unsigned32(at: 8),
        let table = media.only("minf")?.only("stbl")?.only("stsd"), table.reader.unsigned32(at: 4) == 1
      else { return nil }
      guard let entry = table.children(after: 8).only, !entry.isCut else { return nil }
      self.track = track
      self.handler = BoxType(code: handler)
      self.table = table
      self.entry = entry
    }

    /// The types of boxes that say which samples there are, and when.
    static let tables: [BoxType] = ["mdhd", "elst", "stts", "ctts", "stsz", "stz2", "stsc", "stco", "co64"]

    /// How many boxes of a type there are where they belong.
    func count(of table: BoxType) -> Int {
      let paths: [Box?] = [track.child("mdia"), track.child("edts"), track.child("mdia")?.descendant("minf", "stbl")]
      return paths.reduce(0) { $0 + ($1?.children().count { $0.type == table } ?? 0) }
    }

    /// How often a type that changes the codec may occur in the track: in the descriptions of audio and of MPEG-4 video.
    func allowedCount(of type: BoxType) -> Int {
      if entry.type == "mp4v" { return type == "esds" ? 1 : 0 }
      return handler == "soun" && track.count(of: "vide") == 0 ? table.count(of: type) : 0
    }
  }
}

extension Box {
  /// The only child of a type; nil with none or several.
  fileprivate func only(_ type: BoxType) -> Box? {
    let found = children().filter { $0.type == type }
    return found.count == 1 ? found.first : nil
  }

  /// How often the four characters of a type occur in the content, whether as a type or not.
  fileprivate func count(of type: BoxType) -> Int {
    let pattern = type.bytes
    return content.withUnsafeBytes { bytes in
      var (count, offset) = (0, 0)
      while let start = bytes.baseAddress, offset < bytes.count,
        let found = memchr(start + offset, Int32(pattern[0]), bytes.count - offset)
      {
        offset = UnsafeRawPointer(found) - start
        if bytes[offset...].starts(with: pattern) { count += 1 }
        offset += 1
      }
      return count
    }
  }
}
