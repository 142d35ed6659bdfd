import BoxTesting

extension SampledMovie {
  /// The file as movie fragments (ISO/IEC 14496-12, 8.8), each with a number of samples of every track.
  package func fragmented(samplesPerFragment: Int) -> [UInt8] {
    var tree = BoxTree(header)
    for track in tracks {
      guard let path = Self.tablePath(tree, track.index) else { continue }
      tree[path].children = (tree[path].children ?? []).filter { $0.type == "stsd" } + Self.tables([], [])
    }
    let defaults = tracks.map { track in
      // The index of the sample entry; durations, sizes and flags stand in the fragments.
      BoxTree.Node("trex", [0, 0, 0, 0] + [track.id, 1, 0, 0, 0].flatMap(bigEndian))
    }
    if let movie = tree.boxes.firstIndex(where: { $0.type == "moov" }) {
      tree.boxes[movie].children?.append(BoxTree.Node("mvex", children: defaults))
    }
    var times = tracks.map { _ in Int64(0) }
    let count = tracks.map(\.samples.count).max() ?? 0
    for (number, start) in stride(from: 0, to: count, by: samplesPerFragment).enumerated() {
      let parts = tracks.map { Array($0.samples.dropFirst(start).prefix(samplesPerFragment)) }
      // The size of a fragment's header does not depend on the offsets of its data.
      let size = fragment(number, parts, times, offset: 0).count
      tree.boxes.append(fragment(number, parts, times, offset: size + 8))
      tree.boxes.append(BoxTree.Node("mdat", parts.joined().flatMap(\.bytes)))
      for (index, part) in parts.enumerated() { times[index] += part.reduce(0) { $0 + $1.duration } }
    }
    return tree.bytes
  }

  private func fragment(_ number: Int, _ parts: [[Sample]], _ times: [Int64], offset: Int) -> BoxTree.Node {
    var offset = offset
    var children = [BoxTree.Node("mfhd", [0, 0, 0, 0] + bigEndian(UInt32(number + 1)))]
    for (index, part) in parts.enumerated() where !part.isEmpty {
      // Offsets count from the start of the fragment.
      let header = BoxTree.Node("tfhd", [0, 2, 0, 0] + bigEndian(tracks[index].id))
      let time = BoxTree.Node("tfdt", [1, 0, 0, 0] + bigEndian(times[index]))
      // Each sample has a duration, a size, flags and a delay.
      var run: [UInt8] = [1, 0, 0x0F, 1] + bigEndian(UInt32(part.count)) + bigEndian(UInt32(offset))
      for sample in part {
        run += bigEndian(UInt32(truncatingIfNeeded: sample.duration)) + bigEndian(UInt32(sample.bytes.count))
        run += bigEndian(UInt32(sample.isSync ? 0x0200_0000 : 0x0101_0000))
        run += bigEndian(Int32(truncatingIfNeeded: sample.delay))
        offset += sample.bytes.count
      }
      children.append(BoxTree.Node("traf", children: [header, time, BoxTree.Node("trun", run)]))
    }
    return BoxTree.Node("moof", children: children)
  }
}
