/// The checks of a track's tables, which a demuxer reads into memory as they are (ISO/IEC 14496-12, 8.6 and 8.7).
package enum TrackTable {
  /// The maximum number of samples of a track, and of entries of any of its tables: an hour at 240 frames per second.
  package static let maxSamples = 1 << 20
  /// The maximum number of edits of a track. Cameras write a few; a demuxer walks the samples of each.
  static let maxEdits = 256

  /// The number of bytes in front of the entries of the longest header.
  static let headerBytes = 12

  // The size of an entry in bytes, by the type of the table.
  private static let entryBytes: [BoxType: Int64] = [
    "stts": 8, "ctts": 8, "stsc": 12, "stco": 4, "co64": 8, "stss": 4,
  ]

  /// The reason for which a demuxer must not read a box of a track, as a phrase; nil if there is none, or if the box is
  /// no table.
  ///
  /// - Parameters:
  ///   - start: the first bytes of the content, up to `headerBytes`.
  ///   - size: the size of the content.
  ///   - fileBytes: the size of the file.
  static func finding(
    in type: BoxType, start: ArraySlice<UInt8>, size: Int64, fileBytes: Int64
  ) -> String? {
    let reader = BigEndian(start)
    func finding(count: UInt32?, bits: Int64, header: Int64, max: Int = maxSamples) -> String? {
      guard let count else { return nil }
      if count > max { return "the box '\(type)' states \(count) entries; at most \(max) are accepted" }
      guard (Int64(count) * bits + 7) / 8 > size - header else { return nil }
      return "the box '\(type)' states \(count) entries, and has only \(size) bytes"
    }
    switch type {
    case "elst":
      return finding(
        count: reader.unsigned32(at: 4), bits: reader.byte(at: 0) == 1 ? 160 : 96, header: 8, max: maxEdits)
    case "stsz":
      guard let fixed = reader.unsigned32(at: 4), let count = reader.unsigned32(at: 8) else { return nil }
      if fixed == 0 { return finding(count: count, bits: 32, header: 12) }
      // Samples of one size have no entries. Those of uncompressed audio are so small that there are very many.
      guard count > maxSamples, UInt64(count) * UInt64(fixed) > UInt64(clamping: fileBytes) else { return nil }
      return "it states \(count) samples of \(fixed) bytes, more than the file has"
    case "stz2": return finding(count: reader.unsigned32(at: 8), bits: Int64(reader.byte(at: 7) ?? 0), header: 12)
    default: return entryBytes[type].flatMap { finding(count: reader.unsigned32(at: 4), bits: 8 * $0, header: 8) }
    }
  }
}
