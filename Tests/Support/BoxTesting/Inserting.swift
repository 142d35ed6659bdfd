/// A file with a box put at the end of another one, whose place is told by a path of types: the first of each.
package func inserting(_ added: [UInt8], into path: [String], of file: [UInt8]) -> [UInt8]? {
  var (start, end) = (0, file.count)
  var headers: [Int] = []
  for type in path {
    guard let found = boxes(in: file, start, end).first(where: { $0.type == type }) else { return nil }
    headers.append(found.offset)
    // Sample descriptions and visual sample entries have content before their boxes.
    let before = type == "stsd" ? 8 : type == "avc1" || type == "hev1" ? 78 : 0
    (start, end) = (found.offset + 8 + before, found.offset + found.size)
  }
  return replacing(end..<end, with: added, inside: headers, of: file)
}

/// A file with other bytes in place of some, which lie in the boxes that begin at `headers`.
///
/// These boxes change their sizes, and the chunks of media behind them are told of their new places.
func replacing(_ range: Range<Int>, with bytes: [UInt8], inside headers: [Int], of file: [UInt8]) -> [UInt8] {
  var file = file
  let growth = bytes.count - range.count
  for header in headers { write(number(file, header) + growth, at: header, of: &file) }
  for table in chunkTables(in: file) {
    for index in 0..<number(file, table + 12) {
      let entry = table + 16 + 4 * index
      if number(file, entry) >= range.upperBound { write(number(file, entry) + growth, at: entry, of: &file) }
    }
  }
  file.replaceSubrange(range, with: bytes)
  return file
}

private func chunkTables(in file: [UInt8]) -> [Int] {
  var tables: [Int] = []
  var offset = 0
  let name = Array("stco".utf8)
  while offset + 8 < file.count {
    if file[offset + 4..<offset + 8].elementsEqual(name) { tables.append(offset) }
    offset += 1
    // Tables lie in front of the media.
    if file[offset + 4..<min(offset + 8, file.count)].elementsEqual("mdat".utf8) { break }
  }
  return tables
}

/// The boxes that lie side by side between two places of a file.
func boxes(in file: [UInt8], _ start: Int, _ end: Int) -> [(type: String, offset: Int, size: Int)] {
  var found: [(type: String, offset: Int, size: Int)] = []
  var offset = start
  while offset + 8 <= end {
    let size = number(file, offset)
    guard size >= 8 else { break }
    found.append((String(decoding: file[offset + 4..<offset + 8], as: UTF8.self), offset, size))
    offset += size
  }
  return found
}

/// A number of four bytes.
func number(_ file: [UInt8], _ offset: Int) -> Int { file[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }

/// Puts a number of four bytes into a file.
func write(_ value: Int, at offset: Int, of file: inout [UInt8]) {
  file.replaceSubrange(offset..<offset + 4, with: bigEndian(UInt32(value)))
}
