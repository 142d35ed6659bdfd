/// One entry of a track's edit list (ISO/IEC 14496-12, 8.6.6).
package struct Edit: Hashable, Sendable {
  /// In ticks of the movie timescale.
  package let duration: Int64
  /// The start in the media, in ticks of the media timescale; nil: an empty edit.
  package let mediaTime: Int64?
  /// The playback rate: 1 except for slow and fast motion, 0 for a repeated frame.
  package let rate: Double

  /// Parses the entries of an `elst` box.
  static func list(_ box: Box) -> [Edit] {
    let reader = box.reader
    guard let version = reader.byte(at: 0), let count = reader.unsigned32(at: 4) else { return [] }
    let size = version == 1 ? 20 : 12
    return (0..<min(Int(count), max(0, reader.count - 8) / size)).compactMap { index in
      let offset = 8 + index * size
      let times: (duration: UInt64?, start: Int64?) =
        version == 1
        ? (reader.unsigned64(at: offset), reader.unsigned64(at: offset + 8).map { Int64(bitPattern: $0) })
        : (reader.unsigned32(at: offset).map(UInt64.init), reader.signed32(at: offset + 4).map(Int64.init))
      guard let duration = times.duration, let start = times.start, let rate = reader.signed32(at: offset + size - 4)
      else { return nil }
      return Edit(
        duration: Int64(clamping: duration), mediaTime: start < 0 ? nil : start, rate: Double(rate) / 65_536)
    }
  }
}
