/// The sample tables of a track as runs (ISO/IEC 14496-12, 8.6 and 8.7), without a value for each sample.
package struct SampleRuns: Sendable {
  /// The number of samples.
  package let count: Int
  /// The shortest time from the first frame that is shown to the last, in seconds; nil if the edit list is unusual.
  package let minSeconds: Double?
  /// The offsets of the chunks, each with the number of samples in front of it.
  private let chunks: [(offset: UInt64, samplesBefore: Int)]
  private let isEdited: Bool
  private let hasEmptySamples: Bool

  // Longer durations, and larger differences between decoding and presentation, are damage that demuxers repair.
  private static let maxTicks = 1 << 28

  /// Parses a `trak` box; nil if its tables contradict each other.
  init?(track: Box, movieTimescale: UInt32) {
    guard let media = track.child("mdia"), let header = media.child("mdhd")?.reader, header.byte(at: 0) ?? 2 < 2,
      let timescale = header.unsigned32(at: header.byte(at: 0) == 1 ? 20 : 12), timescale > 0,
      let table = media.descendant("minf", "stbl"), let sizes = table.child("stsz")?.reader,
      let fixedSize = sizes.unsigned32(at: 4), let count = sizes.unsigned32(at: 8), count > 0,
      let times = Self.pairs(table.child("stts")), times.allSatisfy({ $0.value >= 0 && $0.value < Self.maxTicks }),
      times.reduce(0, { $0 + $1.count }) == count,
      let chunks = Self.chunks(table), chunks.sampleCount == count
    else { return nil }
    let offsets = table.child("ctts").map { Self.pairs($0) } ?? []
    guard let offsets, offsets.allSatisfy({ $0.value.magnitude < Self.maxTicks }) else { return nil }
    self.count = Int(count)
    self.chunks = chunks.chunks
    hasEmptySamples = fixedSize == 0 && (0..<Int(count)).contains { sizes.unsigned32(at: 12 + 4 * $0) ?? 0 == 0 }
    let edits = track.child("edts").map { $0.child("elst").map(Edit.list) ?? [] }
    isEdited = edits != nil
    let span = Self.span(
      times: times, offsets: offsets, edits: edits ?? [], timescale: Int(timescale), movieTimescale: Int(movieTimescale)
    )
    minSeconds = span.map { Double($0) / Double(timescale) }
  }

  /// The number of samples from the first chunk on that begins behind the end of a file of so many bytes; 0 if none does, or
  /// if they need not be read.
  package func missing(fromFileOf bytes: Int64) -> Int {
    guard !isEdited, !hasEmptySamples else { return 0 }
    return chunks.first { $0.offset >= UInt64(bytes) }.map { count - $0.samplesBefore } ?? 0
  }

  /// The shortest time between the first and the last frame that are shown, in ticks of the media; nil if it is uncertain.
  private static func span(
    times: [(count: Int, value: Int)], offsets: [(count: Int, value: Int)], edits: [Edit], timescale: Int,
    movieTimescale: Int
  ) -> Int? {
    let total = times.reduce(0) { $0 + $1.count * $1.value }
    let maxDuration = times.map(\.value).max() ?? 0
    let values = offsets.map(\.value)
    let spread = max(values.max() ?? 0, 0) - min(values.min() ?? 0, 0)
    guard !edits.isEmpty else { return total - maxDuration - spread }
    // Empty edits delay the media. More than one edit of them may show parts, or one part twice.
    let shown = edits.drop { $0.mediaTime == nil }
    guard shown.count == 1, let edit = shown.first, let start = edit.mediaTime, edit.rate == 1, movieTimescale > 0,
      edit.duration > 0, start < total
    else { return nil }
    let end = min(Double(total), Double(start) + Double(edit.duration) * Double(timescale) / Double(movieTimescale))
    // Frames at both ends may be hidden.
    return Int(end) - Int(start) - 3 * maxDuration - 2 * spread
  }

  /// The entries of a table of runs: a number of samples and the value of each.
  private static func pairs(_ box: Box?) -> [(count: Int, value: Int)]? {
    guard let box, let count = box.reader.unsigned32(at: 4), box.content.count == 8 + 8 * Int(count) else { return nil }
    return (0..<Int(count)).map { index in
      let reader = box.reader
      return (Int(reader.unsigned32(at: 8 + 8 * index) ?? 0), Int(reader.signed32(at: 12 + 8 * index) ?? 0))
    }
  }

  /// The chunks and the number of their samples (8.7.4 and 8.7.5).
  private static func chunks(
    _ table: Box
  ) -> (chunks: [(offset: UInt64, samplesBefore: Int)], sampleCount: Int)? {
    let boxes = table.children().filter { $0.type == "stco" || $0.type == "co64" }
    guard boxes.count == 1, let box = boxes.first, let runs = table.child("stsc")?.reader,
      let count = box.reader.unsigned32(at: 4), let runCount = runs.unsigned32(at: 4), runCount > 0
    else { return nil }
    let width = box.type == "stco" ? 4 : 8
    guard box.content.count == 8 + width * Int(count), runs.count == 8 + 12 * Int(runCount), runs.unsigned32(at: 8) == 1
    else { return nil }
    var chunks: [(offset: UInt64, samplesBefore: Int)] = []
    var samples = 0
    for run in 0..<Int(runCount) {
      let (first, next) = (runs.unsigned32(at: 8 + 12 * run) ?? 0, runs.unsigned32(at: 20 + 12 * run) ?? count + 1)
      guard first < next, next <= count + 1, let perChunk = runs.unsigned32(at: 12 + 12 * run), perChunk > 0 else {
        return nil
      }
      for chunk in Int(first)..<Int(next) {
        guard let offset = box.reader.number(at: 8 + width * (chunk - 1), count: width) else { return nil }
        chunks.append((offset, samples))
        samples += Int(perChunk)
      }
    }
    return (chunks, samples)
  }
}
