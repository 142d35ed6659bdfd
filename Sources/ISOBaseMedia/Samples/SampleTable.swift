/// The samples of one track by its sample tables: offsets, sizes and timestamps (ISO/IEC 14496-12, 8.6 and 8.7).
struct SampleTable {
  struct Sample {
    let offset: Int64
    let size: Int
    /// Times are in ticks of the media timescale.
    let decodingTime: Int64
    let compositionTime: Int64
    let duration: Int64
    let isSync: Bool

    var end: Int64 { offset + Int64(size) }
  }

  /// An error in a table, as a phrase.
  struct TableError: Error { let finding: String }

  let handler: BoxType
  /// The type of the sample entry: `avc1`, `mp4a`.
  let sampleEntry: BoxType
  /// The boxes of the sample entry.
  let extensions: BoxList
  /// The ticks per second of the media.
  let timescale: Int64
  let edits: [Edit]
  /// The samples in decoding order.
  let samples: [Sample]

  /// Parses a `trak` box.
  init(track: Box) throws(TableError) {
    guard let media = track.child("mdia"), let header = media.child("mdhd")?.reader,
      let timescale = header.unsigned32(at: header.byte(at: 0) == 1 ? 20 : 12), timescale > 0,
      let handler = media.child("hdlr")?.reader.unsigned32(at: 8).map({ BoxType(code: $0) }),
      let table = media.descendant("minf", "stbl"),
      let entry = table.child("stsd")?.children(after: 8).only
    else { throw TableError(finding: "a track that does not have exactly one sample entry") }
    self.handler = handler
    self.timescale = Int64(timescale)
    sampleEntry = entry.type
    // The sizes of the fixed parts of visual and audio sample entries (ISO/IEC 14496-12, 12.1.3 and 12.2.3).
    extensions = entry.children(after: handler == "vide" ? 78 : 28)
    edits = track.descendant("edts", "elst").map(Edit.list) ?? []
    let sizes = try Self.sizes(table)
    let offsets = try Self.offsets(table, sizes: sizes)
    let durations = try Self.runs(table, "stts", count: sizes.count)
    let compositionOffsets = try table.child("ctts").map { (_) throws(TableError) in
      try Self.runs(table, "ctts", count: sizes.count)
    }
    let sync = table.child("stss").map { Set(Self.numbers($0, at: 8, width: 4)) }
    var time: Int64 = 0
    samples = sizes.indices.map { index in
      defer { time += durations[index] }
      return Sample(
        offset: offsets[index], size: sizes[index], decodingTime: time,
        compositionTime: time + (compositionOffsets?[index] ?? 0), duration: durations[index],
        isSync: sync?.contains(Int64(index + 1)) ?? true)
    }
  }

  private static func sizes(_ table: Box) throws(TableError) -> [Int] {
    guard let box = table.child("stsz"), let fixed = box.reader.unsigned32(at: 4),
      let count = box.reader.unsigned32(at: 8), count <= TrackTable.maxSamples
    else { throw TableError(finding: "no table of sample sizes") }
    let sizes =
      fixed > 0
      ? Array(repeating: Int(fixed), count: Int(count)) : numbers(box, at: 12, width: 4).map { Int($0) }
    guard sizes.count == Int(count) else { throw TableError(finding: "a truncated table of sample sizes") }
    return sizes
  }

  /// The offset of each sample: the samples of a chunk follow each other from the chunk's offset.
  private static func offsets(_ table: Box, sizes: [Int]) throws(TableError) -> [Int64] {
    let chunks =
      table.child("stco").map { numbers($0, at: 8, width: 4) }
      ?? table.child("co64").map { numbers($0, at: 8, width: 8) }
    guard let chunks, let runs = table.child("stsc").map({ numbers($0, at: 8, width: 4) }), runs.count % 3 == 0 else {
      throw TableError(finding: "no table of chunks")
    }
    var offsets: [Int64] = []
    offsets.reserveCapacity(sizes.count)
    var run = 0
    for (chunk, start) in chunks.enumerated() {
      guard start >= 0 else { throw TableError(finding: "a chunk with an offset that overflows") }
      while run + 3 < runs.count, runs[run + 3] <= Int64(chunk + 1) { run += 3 }
      guard run < runs.count, runs[run] <= Int64(chunk + 1) else {
        throw TableError(finding: "a chunk without samples")
      }
      var offset = start
      for _ in 0..<min(runs[run + 1], Int64(sizes.count - offsets.count)) {
        let (end, overflow) = offset.addingReportingOverflow(Int64(sizes[offsets.count]))
        guard !overflow else { throw TableError(finding: "a chunk with an offset that overflows") }
        offsets.append(offset)
        offset = end
      }
    }
    guard offsets.count == sizes.count else { throw TableError(finding: "samples without a chunk") }
    return offsets
  }

  /// Expands a table of runs, pairs of a count and a value, to a value for each sample.
  private static func runs(_ table: Box, _ type: BoxType, count: Int) throws(TableError) -> [Int64] {
    guard let box = table.child(type) else { throw TableError(finding: "no '\(type)'") }
    let pairs = numbers(box, at: 8, width: 4)
    let isSigned = type == "ctts" && box.reader.byte(at: 0) == 1
    var values: [Int64] = []
    values.reserveCapacity(count)
    for index in stride(from: 0, to: pairs.count - 1, by: 2) where pairs[index] > 0 {
      guard pairs[index] <= Int64(count - values.count) else {
        throw TableError(finding: "'\(type)' counts more samples than there are")
      }
      let value = isSigned ? Int64(Int32(truncatingIfNeeded: pairs[index + 1])) : pairs[index + 1]
      values += repeatElement(value, count: Int(pairs[index]))
    }
    guard values.count == count else { throw TableError(finding: "'\(type)' counts fewer samples than there are") }
    return values
  }

  /// The numbers of a table from an offset to the end.
  private static func numbers(_ box: Box, at offset: Int, width: Int) -> [Int64] {
    let bytes = box.content.dropFirst(offset)
    return bytes.withUnsafeBytes { buffer in
      (0..<buffer.count / width).map { index in
        width == 4
          ? Int64(UInt32(bigEndian: buffer.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self)))
          : Int64(bitPattern: UInt64(bigEndian: buffer.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self)))
      }
    }
  }
}
