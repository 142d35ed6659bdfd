/// An entry of an edit list (ISO/IEC 14496-12, 8.6.6).
package struct Edit: Hashable, Sendable {
  /// How long it is shown, in seconds.
  package var seconds: Double
  /// From where in the media on, in seconds; nil: nothing is shown.
  package var start: Double?
  /// How fast the media pass; 0 holds the frame at the start.
  package var rate: Double

  package init(_ seconds: Double, from start: Double?, rate: Double = 1) {
    self.seconds = seconds
    self.start = start
    self.rate = rate
  }

  /// Its 12 bytes, in ticks of the movie and of the media.
  fileprivate func bytes(movieScale: Int, mediaScale: Int) -> [UInt8] {
    bigEndian(UInt32((seconds * Double(movieScale)).rounded()))
      + bigEndian(start.map { Int32(($0 * Double(mediaScale)).rounded()) } ?? -1)
      + bigEndian(Int32((rate * 65_536).rounded()))
  }
}

/// A file whose track, counted from 0, is shown as these edits say; the lengths in the headers follow.
package func editing(_ edits: [Edit], ofTrack index: Int, of file: [UInt8]) -> [UInt8]? {
  guard let movie = Movie(file), movie.tracks.indices.contains(index) else { return nil }
  let track = movie.tracks[index]
  let children = boxes(in: file, track.offset + 8, track.offset + track.size)
  guard let header = children.first(where: { $0.type == "tkhd" }), let mediaScale = movie.mediaScale(of: index) else {
    return nil
  }
  var file = file
  // Where times have 32 bits (8.2.2 and 8.3.2, version 0).
  let ticks = Int((edits.map(\.seconds).reduce(0, +) * Double(movie.scale)).rounded())
  write(ticks, at: header.offset + 28, of: &file)
  let others = movie.tracks.indices.filter { $0 != index }.compactMap { movie.ticks(of: $0) }
  write(others.reduce(ticks, max), at: movie.header + 24, of: &file)
  let entries = edits.flatMap { $0.bytes(movieScale: movie.scale, mediaScale: mediaScale) }
  let list = box("edts", box("elst", bigEndian(UInt32(0)), bigEndian(UInt32(edits.count)), entries))
  let old = children.first { $0.type == "edts" }.map { $0.offset..<$0.offset + $0.size }
  let end = header.offset + header.size
  return replacing(old ?? end..<end, with: list, inside: [movie.offset, track.offset], of: file)
}

/// A file whose tracks are enabled or not, in their order (8.3.2).
package func enabling(_ isEnabled: [Bool], of file: [UInt8]) -> [UInt8]? {
  guard let movie = Movie(file), movie.tracks.count == isEnabled.count else { return nil }
  var file = file
  for (track, isEnabled) in zip(movie.tracks, isEnabled) {
    guard let header = boxes(in: file, track.offset + 8, track.offset + track.size).first(where: { $0.type == "tkhd" })
    else { return nil }
    file[header.offset + 11] = file[header.offset + 11] & ~1 | (isEnabled ? 1 : 0)
  }
  return file
}

/// Where the parts of a `moov` lie whose headers have version 0.
private struct Movie {
  let offset: Int
  let header: Int
  let tracks: [(type: String, offset: Int, size: Int)]
  private let file: [UInt8]

  init?(_ file: [UInt8]) {
    guard let movie = boxes(in: file, 0, file.count).first(where: { $0.type == "moov" }) else { return nil }
    let children = boxes(in: file, movie.offset + 8, movie.offset + movie.size)
    guard let header = children.first(where: { $0.type == "mvhd" })?.offset, file[header + 8] == 0 else { return nil }
    self.file = file
    self.header = header
    offset = movie.offset
    tracks = children.filter { $0.type == "trak" }
  }

  /// Ticks a second of the movie.
  var scale: Int { number(file, header + 20) }

  /// Ticks a second of a track's media.
  func mediaScale(of index: Int) -> Int? { descendant("mdia", "mdhd", of: index).map { number(file, $0 + 20) } }

  /// How long a track is, in ticks of the movie.
  func ticks(of index: Int) -> Int? { descendant("tkhd", of: index).map { number(file, $0 + 28) } }

  private func descendant(_ path: String..., of index: Int) -> Int? {
    var place = (type: "trak", offset: tracks[index].offset, size: tracks[index].size)
    for type in path {
      let inside = boxes(in: file, place.offset + 8, place.offset + place.size)
      guard let found = inside.first(where: { $0.type == type }) else { return nil }
      place = found
    }
    return place.offset
  }
}
