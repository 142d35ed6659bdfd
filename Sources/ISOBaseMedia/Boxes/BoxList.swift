/// Consecutive boxes in memory, which are parsed one by one.
///
/// All of them are, as demuxers do: no box hides behind many others. The bytes limit the work.
struct BoxList: Sequence, IteratorProtocol {
  // A phone's clip has about a hundred boxes, a fragmented clip of some seconds a few hundred, and a photo of 64 megapixels in tiles of
  // 256 samples a thousand items.
  /// The maximum number of boxes of a file that are visited, and of a list that is held in memory.
  static let maxCount = 10_000

  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  mutating func next() -> Box? {
    do throws(BoxHeader.HeaderError) {
      let header = try BoxHeader(rest.prefix(16), at: 0, limit: Int64(rest.count))
      let isCut = header.end > rest.count
      let size = isCut ? rest.count : Int(header.end)
      defer { rest = rest.dropFirst(size) }
      return Box(type: header.type, content: rest.prefix(size).dropFirst(Int(header.content)), isCut: isCut)
    } catch {
      rest = []
      return nil
    }
  }

  var first: Box? {
    var iterator = self
    return iterator.next()
  }

  /// The only box; nil with none or several.
  var only: Box? {
    var iterator = self
    guard let first = iterator.next(), iterator.next() == nil else { return nil }
    return first
  }

  /// All boxes; nil if they are more than any valid file has.
  var all: [Box]? {
    let boxes = Array(prefix(Self.maxCount + 1))
    return boxes.count > Self.maxCount ? nil : boxes
  }
}
