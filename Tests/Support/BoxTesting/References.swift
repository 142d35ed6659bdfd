/// Returns a `dref` box with one entry, a complete box (ISO/IEC 14496-12, 8.7.2).
package func dataReferences(_ entry: [UInt8]) -> [UInt8] {
  box("dref", [0, 0, 0, 0], bigEndian(UInt32(1)), entry)
}

/// Returns the entry of a `dref` box that says: the media are at this URL.
package func urlReference(_ url: String) -> [UInt8] { box("url ", [0, 0, 0, 0], Array(url.utf8), [0]) }

/// Returns the entry of a `dref` box that says: the media are in this file, by a Macintosh alias as QuickTime writes it.
///
/// - Parameter isRelative: whether the file is looked for next to the movie.
package func aliasReference(to path: String, isRelative: Bool) -> [UInt8] {
  func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }
  func text(_ text: String, in count: Int) -> [UInt8] {
    let bytes = Array(text.utf8.prefix(count))
    return [UInt8(bytes.count)] + bytes + zeros(count - bytes.count)
  }
  let volume = "disk"
  let full = Array((volume + path).utf8) + zeros((volume + path).utf8.count % 2)
  let levels = bigEndian(Int16(isRelative ? 1 : -1))
  let name = path.split(separator: "/").last.map(String.init) ?? ""
  return box(
    "alis", zeros(4 + 10), text(volume, in: 27), zeros(12), text(name, in: 63), zeros(16), levels, levels, zeros(16),
    // The full path, and the end of the list.
    bigEndian(UInt16(2)), bigEndian(UInt16(full.count)), full, [0xFF, 0xFF, 0, 0])
}

/// Returns a clip whose tracks each have one data reference: the entry of a `dref` box.
package func referring(_ entry: [UInt8], of file: [UInt8]) -> [UInt8]? {
  guard let movie = boxes(in: file, 0, file.count).first(where: { $0.type == "moov" }) else { return nil }
  var file = file
  // From the last track on: the offsets of those in front stay.
  for track in boxes(in: file, movie.offset + 8, movie.offset + movie.size).reversed() where track.type == "trak" {
    var headers = [movie.offset]
    var found = track
    for type in ["mdia", "minf", "dinf", "dref"] {
      headers.append(found.offset)
      let children = boxes(in: file, found.offset + 8, found.offset + found.size)
      guard let child = children.first(where: { $0.type == type }) else { return nil }
      found = child
    }
    file = replacing(found.offset..<found.offset + found.size, with: dataReferences(entry), inside: headers, of: file)
  }
  return file
}
