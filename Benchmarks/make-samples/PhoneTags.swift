internal import Platform

/// What phones write beside pictures and sound: where they were, and what they are (Apple, QuickTime File Format,
/// "Metadata").
struct PhoneTags {
  /// A file that is not laid out as our muxer does.
  struct Misplaced: Error {}

  /// By their names, in order.
  let values: [(key: String, value: String)]

  /// Puts them at the end of the index of a clip, which lies in front of its media.
  func write(into path: String) throws {
    var file = try Descriptor(reading: path).contents()
    guard let movie = Self.boxes(of: file, in: 0..<file.count).first(where: { $0.type == "moov" }) else {
      throw Misplaced()
    }
    let added = box
    for table in Self.chunkTables(of: file, in: movie.content) {
      for entry in 0..<Self.number(file, table.content.lowerBound + 4) {
        let place = table.content.lowerBound + 8 + 4 * entry
        let offset = Self.number(file, place)
        // Media in front of the index would stay where they are.
        guard offset >= movie.content.upperBound else { throw Misplaced() }
        file.replaceSubrange(place..<place + 4, with: Self.bytes(offset + added.count))
      }
    }
    let start = movie.content.lowerBound - 8
    file.replaceSubrange(start..<start + 4, with: Self.bytes(movie.content.count + 8 + added.count))
    file.insert(contentsOf: added, at: movie.content.upperBound)
    try Descriptor(writing: path, replacing: true).write(file)
  }

  private var box: [UInt8] {
    let version = Self.bytes(0)
    let handler = Self.box(
      "hdlr", version + Self.bytes(0) + Array("mdta".utf8) + [UInt8](repeating: 0, count: 12) + [0])
    let names = values.map { Self.box("mdta", Array($0.key.utf8)) }
    // Items have the numbers of their names for types; 1 says that the data are UTF-8.
    let items = values.enumerated().map { index, tag in
      let data = Self.box("data", Self.bytes(1) + Self.bytes(0) + Array(tag.value.utf8))
      return Self.bytes(data.count + 8) + Self.bytes(index + 1) + data
    }
    let keys = Self.box("keys", version + Self.bytes(values.count) + names.joined())
    return Self.box("meta", version + handler + keys + Self.box("ilst", Array(items.joined())))
  }

  private static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
    bytes(content.count + 8) + Array(type.utf8) + content
  }

  private static func bytes(_ number: Int) -> [UInt8] { withUnsafeBytes(of: UInt32(number).bigEndian) { Array($0) } }

  private static func number(_ file: [UInt8], _ offset: Int) -> Int {
    file[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
  }

  private static func boxes(of file: [UInt8], in range: Range<Int>) -> [(type: String, content: Range<Int>)] {
    var found: [(type: String, content: Range<Int>)] = []
    var offset = range.lowerBound
    while offset + 8 <= range.upperBound {
      let size = number(file, offset)
      guard size >= 8, offset + size <= range.upperBound else { break }
      found.append((String(decoding: file[offset + 4..<offset + 8], as: UTF8.self), offset + 8..<offset + size))
      offset += size
    }
    return found
  }

  private static func chunkTables(of file: [UInt8], in range: Range<Int>) -> [(type: String, content: Range<Int>)] {
    boxes(of: file, in: range).flatMap { box -> [(type: String, content: Range<Int>)] in
      switch box.type {
      case "trak", "mdia", "minf", "stbl": chunkTables(of: file, in: box.content)
      case "stco": [box]
      default: []
      }
    }
  }
}
