/// The properties of one track that demuxers do not report.
package struct TrackMetadata: Hashable, Sendable {
  /// The track id (ISO/IEC 14496-12, 8.3.2).
  package let number: Int
  /// `vide`, `soun`, `meta`…
  package let handler: BoxType?
  /// The type of the first sample entry: `avc1`, `mebx`…
  package let sampleEntry: BoxType?
  package let cleanAperture: CleanAperture?
  /// The configuration of Dolby Vision; nil without.
  package let dolbyVision: DolbyVision?
  /// The edit list; empty without one.
  package let edits: [Edit]
  /// The end of the edit list in seconds; nil without an edit list, or with an open end.
  package let editEnd: Double?

  /// The format of uncompressed sound by the box `pcmC`; nil without one.
  package let uncompressed: UncompressedSound?

  /// A configuration of Dolby Vision (Dolby, "ISO Base Media File Format", 2.1).
  package struct DolbyVision: Hashable, Sendable {
    package let profile: Int
    /// The format of the base layer for other decoders. 0: none; 1, 6: HDR10; 2: SDR; 4: HLG.
    package let baseLayerCompatibility: Int
  }

  /// The ranges in which an edit with the rate 0 repeats a frame, in seconds.
  package let dwells: [ClosedRange<Double>]

  /// Whether the edit list has a single edit of the media, with the rate 1.
  package var isShownOnce: Bool {
    let media = edits.drop { $0.mediaTime == nil }
    return media.count <= 1 && media.allSatisfy { $0.mediaTime != nil && $0.rate == 1 }
  }

  /// Parses a `trak` box.
  ///
  /// - Parameter movieTimescale: the ticks per second of durations in the edit list.
  init(_ track: Box, movieTimescale: UInt32) {
    let header = track.child("tkhd")?.reader
    let isLong = header?.byte(at: 0) == 1
    number = Int(header?.unsigned32(at: isLong ? 20 : 12) ?? 0)
    let media = track.child("mdia")
    handler = media?.child("hdlr")?.reader.unsigned32(at: 8).map { BoxType(code: $0) }
    let entry = media?.descendant("minf", "stbl", "stsd")?.children(after: 8).first
    sampleEntry = entry?.type
    edits = track.descendant("edts", "elst").map(Edit.list) ?? []
    let ticks = edits.reduce(0.0) { $0 + Double($1.duration) }
    // A duration of 0 leaves the end open, as in fragmented files.
    editEnd = movieTimescale > 0 && ticks > 0 && edits.last?.duration != 0 ? ticks / Double(movieTimescale) : nil
    var time = 0.0
    dwells = edits.compactMap { edit in
      let start = time
      time += Double(edit.duration) / Double(max(1, movieTimescale))
      return edit.rate == 0 && edit.mediaTime != nil ? start...time : nil
    }
    uncompressed = handler == "soun" ? entry.flatMap { UncompressedSound($0) } : nil
    // The boxes of a visual sample entry follow its fixed part (ISO/IEC 14496-12, 12.1.3).
    let extensions = handler == "vide" ? entry?.children(after: 78) : nil
    cleanAperture = extensions?.first { $0.type == "clap" }.flatMap { CleanAperture($0) }
    dolbyVision = extensions?.first { ["dvcC", "dvvC", "dvwC"].contains($0.type) }.flatMap { box in
      guard let profile = box.reader.byte(at: 2), let compatibility = box.reader.byte(at: 4) else { return nil }
      return DolbyVision(profile: Int(profile >> 1), baseLayerCompatibility: Int(compatibility >> 4))
    }
  }
}

/// The displayed part of a frame, positioned relative to its centre (ISO/IEC 14496-12, 12.1.4).
package struct CleanAperture: Hashable, Sendable {
  /// In samples.
  package let width: Double
  package let height: Double
  /// The distance from the centre of the frame to the centre of the part, in samples.
  package let horizontalOffset: Double
  package let verticalOffset: Double

  /// Parses a `clap` box; nil if a fraction is invalid.
  init?(_ box: Box) {
    let reader = box.reader
    func fraction(at offset: Int, isSigned: Bool) -> Double? {
      guard let top = reader.signed32(at: offset), let bottom = reader.signed32(at: offset + 4), bottom != 0 else {
        return nil
      }
      let numerator = isSigned ? Double(top) : Double(UInt32(bitPattern: top))
      return numerator / Double(bottom)
    }
    guard let width = fraction(at: 0, isSigned: false), let height = fraction(at: 8, isSigned: false),
      let horizontal = fraction(at: 16, isSigned: true), let vertical = fraction(at: 24, isSigned: true),
      width >= 1, height >= 1
    else { return nil }
    self.width = width
    self.height = height
    horizontalOffset = horizontal
    verticalOffset = vertical
  }

  /// The part of a frame of a size, in integer samples; nil if it is the entire frame, or not inside of it.
  package func samples(ofWidth width: Int, height: Int) -> (x: Int, y: Int, width: Int, height: Int)? {
    guard self.width <= Double(width), self.height <= Double(height) else { return nil }
    let (columns, rows) = (Int(self.width.rounded()), Int(self.height.rounded()))
    let x = (Double(width) - self.width) / 2 + horizontalOffset
    let y = (Double(height) - self.height) / 2 + verticalOffset
    guard x > -1, y > -1, x + self.width < Double(width) + 1, y + self.height < Double(height) + 1 else { return nil }
    let (left, top) = (max(0, Int(x.rounded())), max(0, Int(y.rounded())))
    let part = (x: left, y: top, width: min(columns, width - left), height: min(rows, height - top))
    return part.width == width && part.height == height ? nil : part
  }
}
