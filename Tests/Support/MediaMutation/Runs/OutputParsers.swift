import ISOBaseMedia

@testable import MediaProcess

/// The parsers of outputs, which a hostile child can write as it likes.
enum OutputParsers {
  static func run(_ bytes: [UInt8]) {
    func read(_ offset: Int64, _ count: Int) -> [UInt8] { Array(bytes.dropFirst(Int(offset)).prefix(count)) }
    let size = Int64(bytes.count)
    _ = MovieHeader.read(size: size) { offset, count throws(Never) in read(offset, count) }
    _ = MovieCheck.finding(size: size) { offset, count throws(Never) in read(offset, count) }
    _ = AVIFHeader.read(size: size) { offset, count throws(Never) in read(offset, count) }
    let file = RequestFile(bytes)
    for type in ["image/jpeg", "image/webp", "image/avif"] { _ = try? ImageHeader.read(file, type: type) }
  }
}
