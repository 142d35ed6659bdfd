import BoxTesting
import ISOBaseMedia
import Testing

@Suite("Tables of a track")
struct TrackTableTests {
  /// The refusal of a clip whose second track has a box in its sample table, or an edit list; nil if it is accepted.
  private static func refusal(table: [UInt8] = [], edits: [UInt8] = []) -> ContainerRefusal? {
    let track = box("trak", box("edts", edits), box("mdia", box("minf", box("stbl", table))))
    let bytes = fileType("isom") + movie("vide", extra: track) + mediaData
    let examined = ContainerWalker.examine(size: Int64(bytes.count)) { offset, count throws(Never) in
      Array(bytes.dropFirst(Int(offset)).prefix(count))
    }
    if case .failure(let refusal) = examined { return refusal } else { return nil }
  }

  private static func isDamaged(_ refusal: ContainerRefusal?, _ word: String) -> Bool {
    if case .damaged(let finding, _)? = refusal { finding.contains(word) } else { false }
  }

  private static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

  /// The size of an entry in bytes, and the fields in front of the number of entries.
  private static let tables: [(type: String, entry: Int, fields: [UInt8])] = [
    ("stts", 8, [0, 0, 0, 0]), ("ctts", 8, [0, 0, 0, 0]), ("stsc", 12, [0, 0, 0, 0]), ("stco", 4, [0, 0, 0, 0]),
    ("co64", 8, [0, 0, 0, 0]), ("stss", 4, [0, 0, 0, 0]), ("stsz", 4, [0, 0, 0, 0, 0, 0, 0, 0]),
    ("stz2", 2, [0, 0, 0, 0, 0, 0, 0, 16]),
  ]

  @Test("a table that states more entries than its box has is refused", arguments: tables)
  func entries(type: String, entry: Int, fields: [UInt8]) {
    func refusal(_ stated: Int, entries: Int) -> ContainerRefusal? {
      Self.refusal(table: box(type, fields, bigEndian(UInt32(stated)), Self.zeros(entries * entry)))
    }
    #expect(refusal(3, entries: 3) == nil)
    #expect(refusal(0, entries: 0) == nil)
    #expect(Self.isDamaged(refusal(4, entries: 3), "'\(type)'"))
    #expect(Self.isDamaged(refusal(0xFFFF_FFFF, entries: 3), "'\(type)'"))
    #expect(Self.refusal(table: box(type, [0, 0])) == nil, "a box without a header")
  }

  @Test("a track with more samples than the limit is refused")
  func samples() {
    func refusal(_ count: Int) -> ContainerRefusal? {
      Self.refusal(table: box("stsz", Self.zeros(8), bigEndian(UInt32(count)), Self.zeros(4 * count)))
    }
    #expect(refusal(TrackTable.maxSamples) == nil)
    #expect(Self.isDamaged(refusal(TrackTable.maxSamples + 1), "at most"))
  }

  @Test("samples of one size may not be more than the bytes of the file")
  func fixedSizes() {
    func refusal(_ count: Int, size: Int) -> ContainerRefusal? {
      Self.refusal(table: box("stsz", Self.zeros(4), bigEndian(UInt32(size)), bigEndian(UInt32(count))))
    }
    #expect(refusal(TrackTable.maxSamples, size: 4) == nil)
    #expect(Self.isDamaged(refusal(TrackTable.maxSamples + 1, size: 1), "more than the file has"))
    #expect(Self.isDamaged(refusal(0xFFFF_FFFF, size: 0xFFFF_FFFF), "more than the file has"))
  }

  @Test("a track with more edits than the limit is refused", arguments: [0, 1] as [UInt8])
  func edits(version: UInt8) {
    func refusal(_ count: Int) -> ContainerRefusal? {
      let list = Self.zeros(count * (version == 1 ? 20 : 12))
      return Self.refusal(edits: box("elst", [version, 0, 0, 0], bigEndian(UInt32(count)), list))
    }
    #expect(refusal(256) == nil)
    #expect(Self.isDamaged(refusal(257), "at most 256"))
  }
}
