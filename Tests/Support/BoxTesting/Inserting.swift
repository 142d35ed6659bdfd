/// A file with a box put at the end of another one, whose place is told by a path of types: the first of each.
///
/// Sizes on the way grow, and the chunks of media, which lie behind, are told of their new places.
package func inserting(_ added: [UInt8], into path: [String], of file: [UInt8]) -> [UInt8]? {
  var file = file
  var (start, end) = (0, file.count)
  var headers: [Int] = []
  for type in path {
    guard let found = boxes(in: file, start, end).first(where: { $0.type == type }) else { return nil }
    headers.append(found.offset)
    // Sample descriptions and visual sample entries have content before their boxes.
    let before = type == "stsd" ? 8 : type == "avc1" || type == "hev1" ? 78 : 0
    (start, end) = (found.offset + 8 + before, found.offset + found.size)
  }
  for header in headers { write(number(file, header) + added.count, at: header, of: &file) }
  for table in chunkTables(in: file, boxesOf: file) {
    for index in 0..<number(file, table + 12) {
      let entry = table + 16 + 4 * index
      if number(file, entry) >= end { write(number(file, entry) + added.count, at: entry, of: &file) }
    }
  }
  file.insert(contentsOf: added, at: end)
  return file
}

private func chunkTables(in file: [UInt8], boxesOf: [UInt8]) -> [Int] {
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

private func boxes(in file: [UInt8], _ start: Int, _ end: Int) -> [(type: String, offset: Int, size: Int)] {
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

private func number(_ file: [UInt8], _ offset: Int) -> Int { file[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }

private func write(_ value: Int, at offset: Int, of file: inout [UInt8]) {
  file.replaceSubrange(offset..<offset + 4, with: bigEndian(UInt32(value)))
}
