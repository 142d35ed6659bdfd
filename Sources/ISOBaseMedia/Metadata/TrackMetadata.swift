/// What the boxes of one track say, as far as it is not told by a demuxer.
package struct TrackMetadata: Hashable, Sendable {
  /// The number by which the file refers to it (ISO/IEC 14496-12, 8.3.2).
  package let number: Int
  /// `vide`, `soun`, `meta`…
  package let handler: BoxType?
  /// The format of its samples by the first sample entry: `avc1`, `mebx`…
  package let sampleEntry: BoxType?
  package let cleanAperture: CleanAperture?
  /// Of Dolby Vision (Dolby, "ISO Base Media File Format", 2.1): the profile, and whether the pictures mean something
  /// without its metadata.
  package let dolbyVision: DolbyVision?
  /// Empty where all of the media are shown as they are.
  package let edits: [Edit]
  /// When its edit list ends, in seconds; nil where it has none, or does not say.
  package let editEnd: Double?

  /// A configuration of Dolby Vision.
  package struct DolbyVision: Hashable, Sendable {
    package let profile: Int
    /// 0: none; 1, 6: HDR10; 2: SDR; 4: HLG.
    package let baseLayerCompatibility: Int
  }

  /// When a frame stands still by an edit whose rate is 0, in seconds.
  package let dwells: [ClosedRange<Double>]

  /// Whether its media are shown from some time on without a gap, and once.
  package var isShownOnce: Bool {
    let media = edits.drop { $0.mediaTime == nil }
    return media.count <= 1 && media.allSatisfy { $0.mediaTime != nil && $0.rate == 1 }
  }

  /// Reads a `trak` box.
  ///
  /// - Parameter movieTimescale: ticks a second of its edit list.
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
    // A duration of 0 leaves the end open, as fragments need it.
    editEnd = movieTimescale > 0 && ticks > 0 && edits.last?.duration != 0 ? ticks / Double(movieTimescale) : nil
    var time = 0.0
    dwells = edits.compactMap { edit in
      let start = time
      time += Double(edit.duration) / Double(max(1, movieTimescale))
      return edit.rate == 0 && edit.mediaTime != nil ? start...time : nil
    }
    // What a visual sample entry holds lies behind its fixed part (ISO/IEC 14496-12, 12.1.3).
    let extensions = handler == "vide" ? entry?.children(after: 78) ?? [] : []
    cleanAperture = extensions.first { $0.type == "clap" }.flatMap { CleanAperture($0) }
    dolbyVision = extensions.first { ["dvcC", "dvvC", "dvwC"].contains($0.type) }.flatMap { box in
      guard let profile = box.reader.byte(at: 2), let compatibility = box.reader.byte(at: 4) else { return nil }
      return DolbyVision(profile: Int(profile >> 1), baseLayerCompatibility: Int(compatibility >> 4))
    }
  }
}
