/// Reads a file through a small window, so that a walk over its box headers costs few reads.
struct FileWindow<Failure: Error> {
  /// Reads at most `count` bytes at an offset; fewer only at the end of the file.
  typealias Reader = (_ offset: Int64, _ count: Int) throws(Failure) -> [UInt8]

  /// The length of the file in bytes.
  let size: Int64
  private let read: Reader
  private var start: Int64 = 0
  private var bytes: [UInt8] = []
  private let length = 4096

  init(size: Int64, read: @escaping Reader) {
    self.size = size
    self.read = read
  }

  /// The bytes at an offset: at most `count`, which is small, and fewer at the end of the file.
  mutating func bytes(at offset: Int64, count: Int) throws(Failure) -> ArraySlice<UInt8> {
    let wanted = Int(min(Int64(count), max(0, size - offset)))
    if offset < start || offset + Int64(wanted) > start + Int64(bytes.count) {
      bytes = try read(offset, Int(min(Int64(max(length, wanted)), max(0, size - offset))))
      start = offset
    }
    return bytes.dropFirst(Int(offset - start)).prefix(wanted)
  }
}
