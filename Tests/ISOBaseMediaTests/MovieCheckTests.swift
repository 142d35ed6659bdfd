import BoxTesting
import ISOBaseMedia
import Testing

@Suite("Checks of written movies")
struct MovieCheckTests {
  /// A file with one sound sample of four bytes, whose chunk is at an offset.
  ///
  /// - Parameter padding: boxes in front of the tracks.
  private static func file(chunk: UInt64, padding: [UInt8] = []) -> [UInt8] {
    let none: [UInt8] = [0, 0, 0, 0]
    let one = bigEndian(UInt32(1))
    let tables = box(
      "stbl", box("stsd", none, one, box("mp4a", [UInt8](repeating: 0, count: 28), box("esds", none))),
      box("stts", none, one, one, bigEndian(UInt32(1024))), box("stsc", none, one, one, one, one),
      box("stsz", none, none, one, bigEndian(UInt32(4))), box("co64", none, one, bigEndian(chunk)))
    let media = box(
      "mdia", box("mdhd", none, none, none, bigEndian(UInt32(48_000)), none),
      box("hdlr", none, none, Array("soun".utf8), [UInt8](repeating: 0, count: 13)), box("minf", tables))
    let header = box("mvhd", none, none, none, bigEndian(UInt32(1000)), [UInt8](repeating: 0, count: 84))
    // The walk in front of the check accepts files with video only.
    let start = fileType("isom") + box("moov", header, padding, box("trak", media), track("vide"))
    return start + box("mdat", [1, 2, 3, 4])
  }

  private static func finding(in file: [UInt8]) -> String? {
    MovieCheck.finding(size: Int64(file.count)) { offset, count in Array(file.dropFirst(Int(offset)).prefix(count)) }
  }

  @Test("a chunk offset that 63 bits do not hold is a finding", arguments: [1 << 63, .max, 1 << 63 - 4] as [UInt64])
  func offsets(chunk: UInt64) {
    #expect(Self.finding(in: Self.file(chunk: chunk)) == "a chunk with an offset that overflows")
    let padding = (0..<5000).flatMap { _ in box("free") }
    #expect(Self.finding(in: Self.file(chunk: chunk, padding: padding)) == "a chunk with an offset that overflows")
    // The sound is read without a finding; the track of video has no samples.
    #expect(Self.finding(in: Self.file(chunk: 40)) == "a track that does not have exactly one sample entry")
  }
}
