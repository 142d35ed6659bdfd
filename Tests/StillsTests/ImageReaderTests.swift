import MediaFixtures
import Stills
import Testing

@Suite("Image reader", .tags(.media))
struct ImageReaderTests {
  private static let formats: [(name: String, format: ImageReader.Format)] = [
    ("png", .png), ("webp", .webp), ("heic", .heif), ("avif", .heif),
  ]

  /// Reads a row; false if that is refused.
  private static func read(_ reader: inout ImageReader, bits: Int) -> Bool {
    do throws(ImageError) {
      if bits == 16 {
        var row = [UInt16](repeating: 0, count: 4 * reader.header.width)
        try reader.readRow16(into: &row)
      } else {
        var row = [UInt8](repeating: 0, count: 4 * reader.header.width)
        try reader.read(into: &row, stride: row.count, rowCount: 1)
      }
      return true
    } catch {
      return false
    }
  }

  @Test("refuses rows behind the last one with an error, in 8 bits and in 16", arguments: formats.indices, [8, 16])
  func end(index: Int, bits: Int) throws {
    let (name, format) = Self.formats[index]
    var reader = try ImageReader(PhotoFixture.photo(in: name), format: format, pixels: 1 << 20)
    let height = reader.header.height
    var read = 0
    for _ in 0..<height + 2 where Self.read(&reader, bits: bits) { read += 1 }
    #expect(read == height && reader.remainingRows == 0)
  }

  @Test("refuses rows behind damaged ones with an error", arguments: [8, 16])
  func damaged(bits: Int) throws {
    let complete = try PhotoFixture.photo(in: "png")
    var reader = try ImageReader(Array(complete.prefix(complete.count / 2)), format: .png, pixels: 1 << 20)
    let height = reader.header.height
    var read = 0
    for _ in 0..<height where Self.read(&reader, bits: bits) { read += 1 }
    #expect((1..<height).contains(read))
  }
}
