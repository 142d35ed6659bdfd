import BoxTesting

@testable import ISOBaseMedia

/// A clip as its samples: they can be changed, removed and exchanged, and the tables of the file that is written fit them.
package struct SampledMovie {
  /// One sample (ISO/IEC 14496-12, 3.1.14): an access unit of video or a frame of audio.
  package struct Sample {
    package var bytes: [UInt8]
    /// In ticks of the media timescale.
    package var duration: Int64
    /// From the time of decoding to the time of presentation, in ticks.
    package var delay: Int64
    package var isSync: Bool
  }

  /// A track whose tables could be read.
  package struct Track {
    /// The index among the tracks of the movie.
    let index: Int
    let id: UInt32
    /// The type of the sample entry.
    package let entry: String
    /// The size of the length field of NAL units; nil of other formats.
    let lengthBytes: Int?
    package var samples: [Sample]
  }

  /// The file type box and the movie box.
  var header: [BoxTree.Node]
  package var tracks: [Track]

  /// Reads a clip; nil without a track whose samples lie in the file.
  package init?(_ bytes: [UInt8]) {
    guard let tree = BoxTree(bytes), let movie = tree.boxes.first(where: { $0.type == "moov" }),
      let read = Box.list(in: bytes[...]).first(where: { $0.type == "moov" })
    else { return nil }
    header = (tree.boxes.filter { $0.type == "ftyp" }.prefix(1) + [movie]).map { node in
      var node = node
      node.origin = nil
      return node
    }
    tracks = []
    for (index, track) in read.children().filter({ $0.type == "trak" }).enumerated() {
      guard let table = try? SampleTable(track: track), !table.samples.isEmpty,
        table.samples.allSatisfy({ $0.offset >= 0 && $0.end <= bytes.count }),
        let header = track.child("tkhd")?.reader,
        let id = header.unsigned32(at: header.byte(at: 0) == 1 ? 20 : 12)
      else { continue }
      tracks.append(
        Track(
          index: index, id: id, entry: table.sampleEntry.description, lengthBytes: Self.lengthBytes(table),
          samples: table.samples.map { sample in
            Sample(
              bytes: Array(bytes[Int(sample.offset)..<Int(sample.end)]), duration: sample.duration,
              delay: sample.compositionTime - sample.decodingTime, isSync: sample.isSync)
          }))
    }
    if tracks.isEmpty { return nil }
  }

  /// The size of the length field by the decoder configuration (ISO/IEC 14496-15, 5.3.3.1 and 8.3.3.1).
  private static func lengthBytes(_ table: SampleTable) -> Int? {
    for box in table.extensions {
      if box.type == "avcC" { return box.reader.byte(at: 4).map { Int($0 & 3) + 1 } }
      if box.type == "hvcC" { return box.reader.byte(at: 21).map { Int($0 & 3) + 1 } }
    }
    return nil
  }

  /// The tracks of a kind: those with NAL units, or the others.
  func trackIndices(hasUnits: Bool) -> [Int] {
    tracks.indices.filter { (tracks[$0].lengthBytes != nil) == hasUnits && !tracks[$0].samples.isEmpty }
  }
}

extension SampledMovie {
  /// The file: the movie box, then the samples of all tracks, interleaved.
  package var bytes: [UInt8] {
    var tree = BoxTree(header)
    let order = Self.interleaved(tracks)
    // The size of the movie box does not depend on the offsets.
    Self.setTables(of: &tree, tracks, offsets: tracks.map { $0.samples.map { _ in 0 } })
    var offset = tree.boxes.reduce(8) { $0 + $1.count }
    var offsets = tracks.map { [Int](repeating: 0, count: $0.samples.count) }
    var data: [UInt8] = []
    for (track, sample) in order {
      offsets[track][sample] = offset
      offset += tracks[track].samples[sample].bytes.count
      data += tracks[track].samples[sample].bytes
    }
    Self.setTables(of: &tree, tracks, offsets: offsets)
    tree.boxes.append(BoxTree.Node("mdat", data))
    return tree.bytes
  }

  private static func interleaved(_ tracks: [Track]) -> [(track: Int, sample: Int)] {
    let count = tracks.map(\.samples.count).max() ?? 0
    return (0..<count).flatMap { sample in
      tracks.indices.filter { sample < tracks[$0].samples.count }.map { (track: $0, sample: sample) }
    }
  }

  private static func setTables(of tree: inout BoxTree, _ tracks: [Track], offsets: [[Int]]) {
    for (track, offsets) in zip(tracks, offsets) {
      guard let path = tablePath(tree, track.index) else { continue }
      tree[path].children = (tree[path].children ?? []).filter { $0.type == "stsd" } + tables(track.samples, offsets)
    }
  }

  /// The path to the sample tables of a track.
  static func tablePath(_ tree: BoxTree, _ index: Int) -> BoxTree.Path? {
    let tracks = tree.paths(to: "trak").filter { $0.count == 2 }
    guard index < tracks.count else { return nil }
    return tree.paths(to: "stbl").first { $0.starts(with: tracks[index]) && $0.count == 5 }
  }

  /// The sample tables (ISO/IEC 14496-12, 8.6 and 8.7), with a chunk for each sample.
  static func tables(_ samples: [Sample], _ offsets: [Int]) -> [BoxTree.Node] {
    func table(_ type: String, _ count: Int, _ numbers: [Int64], version: UInt8 = 0) -> BoxTree.Node {
      BoxTree.Node(
        type,
        [version, 0, 0, 0] + bigEndian(UInt32(count))
          + numbers.flatMap { bigEndian(UInt32(truncatingIfNeeded: $0)) })
    }
    func runs(_ type: String, _ version: UInt8, _ values: [Int64]) -> BoxTree.Node {
      var runs: [(count: Int64, value: Int64)] = []
      for value in values {
        if runs.last?.value == value { runs[runs.count - 1].count += 1 } else { runs.append((1, value)) }
      }
      return table(type, runs.count, runs.flatMap { [$0.count, $0.value] }, version: version)
    }
    var nodes = [runs("stts", 0, samples.map(\.duration))]
    if samples.contains(where: { $0.delay != 0 }) { nodes.append(runs("ctts", 1, samples.map(\.delay))) }
    nodes.append(table("stsc", samples.isEmpty ? 0 : 1, samples.isEmpty ? [] : [1, 1, 1]))
    nodes.append(table("stsz", 0, [Int64(samples.count)] + samples.map { Int64($0.bytes.count) }))
    nodes.append(table("stco", samples.count, offsets.map(Int64.init)))
    if samples.contains(where: { !$0.isSync }) {
      let sync = samples.indices.filter { samples[$0].isSync }
      nodes.append(table("stss", sync.count, sync.map { Int64($0 + 1) }))
    }
    return nodes
  }
}
