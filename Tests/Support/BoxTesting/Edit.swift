/// An entry of an edit list (ISO/IEC 14496-12, 8.6.6).
package struct Edit: Hashable, Sendable {
  /// The duration of the edit in seconds.
  package var seconds: Double
  /// The start time in the media in seconds; nil for an empty edit.
  package var start: Double?
  /// The playback rate; 0 holds the frame at the start (a dwell).
  package var rate: Double

  package init(_ seconds: Double, from start: Double?, rate: Double = 1) {
    self.seconds = seconds
    self.start = start
    self.rate = rate
  }

  /// The 12 bytes of the entry, in ticks of the movie and of the media.
  fileprivate func bytes(movieScale: Int, mediaScale: Int) -> [UInt8] {
    bigEndian(UInt32((seconds * Double(movieScale)).rounded()))
      + bigEndian(start.map { Int32(($0 * Double(mediaScale)).rounded()) } ?? -1)
      + bigEndian(Int32((rate * 65_536).rounded()))
  }
}

/// Returns a file with an edit list for a track, counted from 0, and with adjusted durations in the headers.
package func editing(_ edits: [Edit], ofTrack index: Int, of file: [UInt8]) -> [UInt8]? {
  guard let movie = Movie(file), movie.tracks.indices.contains(index) else { return nil }
  let track = movie.tracks[index]
  let children = boxes(in: file, track.offset + 8, track.offset + track.size)
  guard let header = children.first(where: { $0.type == "tkhd" }), let mediaScale = movie.mediaScale(of: index) else {
    return nil
  }
  var file = file
  // The offsets of the durations in version 0 of the boxes, with 32 bits (8.2.2 and 8.3.2).
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

/// Returns a file with boxes in front of its first track.
package func insertingBeforeTracks(_ added: [UInt8], of file: [UInt8]) -> [UInt8]? {
  guard let movie = Movie(file), let start = movie.tracks.first?.offset else { return nil }
  return replacing(start..<start, with: added, inside: [movie.offset], of: file)
}

/// Returns a file whose tracks are enabled or disabled, in their order (8.3.2).
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

/// Returns a file whose media of a track have another time scale, in ticks per second, and the same ticks.
package func scaling(to ticks: Int, ofTrack index: Int, of file: [UInt8]) -> [UInt8]? {
  guard let header = Movie(file)?.descendant("mdia", "mdhd", of: index) else { return nil }
  var file = file
  write(ticks, at: header + 20, of: &file)
  return file
}

/// The offsets in a `moov` box whose headers have version 0.
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

  /// The time scale of the movie, in ticks per second.
  var scale: Int { number(file, header + 20) }

  /// The time scale of a track's media, in ticks per second.
  func mediaScale(of index: Int) -> Int? { descendant("mdia", "mdhd", of: index).map { number(file, $0 + 20) } }

  /// The duration of a track, in ticks of the movie.
  func ticks(of index: Int) -> Int? { descendant("tkhd", of: index).map { number(file, $0 + 28) } }

  func descendant(_ path: String..., of index: Int) -> Int? {
    var box = (type: "trak", offset: tracks[index].offset, size: tracks[index].size)
    for type in path {
      let children = boxes(in: file, box.offset + 8, box.offset + box.size)
      guard let found = children.first(where: { $0.type == type }) else { return nil }
      box = found
    }
    return box.offset
  }
}

/// Returns a fragmented file (ISO/IEC 14496-12, 8.8) made of a file with one track: each fragment has its first sample
/// at one decoding time, and the sample tables are empty. Returns nil if the file has no such tables.
package func fragmenting(_ file: [UInt8], at ticks: [Int64]) -> [UInt8]? {
  let none: [UInt8] = [0, 0, 0, 0]
  let one = bigEndian(UInt32(1))
  guard
    var file = inserting(box("mvex", box("trex", none, one, one, none, none, none)), into: ["moov"], of: file),
    let offsets = table("stco", of: file), let sizes = table("stsz", of: file)
  else { return nil }
  let start = number(file, offsets + 16)
  let sample = file[start..<start + number(file, sizes + 20)]
  for type in ["stts", "stss", "ctts", "stsc", "stco"] {
    if let table = table(type, of: file) { write(0, at: table + 12, of: &file) }
  }
  write(0, at: sizes + 16, of: &file)
  // The data offset is relative to the `moof` box. The run has flags for the offset and the sample's duration and size.
  func fragment(at ticks: Int64, dataOffset: Int) -> [UInt8] {
    let run = box(
      "trun", [0, 0, 3, 1], one, bigEndian(UInt32(dataOffset)), bigEndian(UInt32(512)),
      bigEndian(UInt32(sample.count)))
    let track = box("traf", box("tfhd", [0, 2, 0, 0], one), box("tfdt", [1, 0, 0, 0], bigEndian(ticks)), run)
    return box("moof", box("mfhd", none, one), track)
  }
  for ticks in ticks {
    let size = fragment(at: ticks, dataOffset: 0).count
    file += fragment(at: ticks, dataOffset: size + 8) + box("mdat", Array(sample))
  }
  return file
}

/// Returns the offset of the first box of a type.
private func table(_ type: String, of file: [UInt8]) -> Int? {
  let name = Array(type.utf8)
  return (0..<file.count - 8).first { file[($0 + 4)..<($0 + 8)].elementsEqual(name) }
}
