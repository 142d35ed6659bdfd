/// Returns a box (ISO/IEC 14496-12, 4.2).
package func box(_ type: String, _ content: [UInt8]...) -> [UInt8] {
  let bytes = Array(type.utf8) + content.flatMap { $0 }
  return bigEndian(UInt32(bytes.count + 4)) + bytes
}

/// Returns a box with a 64-bit size.
package func largeBox(_ type: String, _ content: [UInt8]) -> [UInt8] {
  bigEndian(UInt32(1)) + Array(type.utf8) + bigEndian(UInt64(content.count + 16)) + content
}

/// Returns an `ftyp` box with a major brand.
package func fileType(_ brand: String) -> [UInt8] {
  box("ftyp", Array(brand.utf8), [0, 0, 0, 0], Array("isom".utf8))
}

/// Returns a `trak` box with a handler and no samples.
package func track(_ handler: String) -> [UInt8] {
  let content = [UInt8](repeating: 0, count: 8) + Array(handler.utf8) + [UInt8](repeating: 0, count: 12)
  let media = box("mdia", box("mdhd", [0, 0, 0, 0]), box("hdlr", content))
  return box("trak", box("tkhd", [UInt8](repeating: 0, count: 84)), media)
}

/// Returns a `moov` box with a track for each handler.
package func movie(_ handlers: String..., extra: [UInt8] = []) -> [UInt8] {
  box("moov", box("mvhd", [UInt8](repeating: 0, count: 100)), handlers.flatMap(track), extra)
}

/// A small `mdat` box.
package let mediaData = box("mdat", [UInt8](repeating: 0xA5, count: 50))

/// Returns a file of `bytes` bytes with the boxes of a clip. Different seeds give different files.
package func boxedClip(bytes: Int = 4096, seed: UInt8 = 0) -> [UInt8] {
  let start = fileType("isom") + movie("vide", "soun")
  return start + box("mdat", [UInt8](repeating: seed, count: bytes - start.count - 8))
}

/// Returns the bytes of a number in big-endian order.
package func bigEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
  withUnsafeBytes(of: number.bigEndian) { Array($0) }
}

/// Returns a file with a box appended to the box at `path`, a list of types; the first box of each type is used.
package func inserting(_ added: [UInt8], into path: [String], of file: [UInt8]) -> [UInt8]? {
  var (start, end) = (0, file.count)
  var headers: [Int] = []
  for type in path {
    guard let found = boxes(in: file, start, end).first(where: { $0.type == type }) else { return nil }
    headers.append(found.offset)
    // Sample descriptions and visual sample entries have fields before their boxes.
    let before = type == "stsd" ? 8 : type == "avc1" || type == "hev1" ? 78 : 0
    (start, end) = (found.offset + 8 + before, found.offset + found.size)
  }
  return replacing(end..<end, with: added, inside: headers, of: file)
}

/// Returns a file with `range` replaced, which is inside the boxes that start at `headers`.
///
/// The sizes of these boxes and the chunk offsets behind the range are adjusted.
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
    // The tables are in front of the media.
    if file[offset + 4..<min(offset + 8, file.count)].elementsEqual("mdat".utf8) { break }
  }
  return tables
}

/// Returns the sibling boxes between two offsets of a file.
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

/// Reads a 32-bit number.
func number(_ file: [UInt8], _ offset: Int) -> Int { file[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) } }

/// Writes a 32-bit number.
func write(_ value: Int, at offset: Int, of file: inout [UInt8]) {
  file.replaceSubrange(offset..<offset + 4, with: bigEndian(UInt32(value)))
}
