import BoxTesting

/// Changes of boxes that keep the sizes of all boxes and the offsets of samples right.
struct BoxChanges {
  /// The tree of another file, for boxes to exchange; nil: there is none.
  let other: BoxTree?

  /// The boxes that decide what a demuxer or an image library does.
  private static let tables: Set<String> = [
    "stts", "ctts", "stsc", "stsz", "stco", "co64", "stss", "elst", "mdhd", "mvhd", "tkhd", "trex", "tfhd", "tfdt",
    "trun", "mehd", "hdlr", "colr", "pasp", "clap", "avcC", "hvcC", "esds", "av1C", "ispe", "irot", "imir", "pixi",
    "iloc", "infe", "ipma", "pitm", "auxC", "ftyp", "cdsc", "dimg", "auxl", "nclx", "dref", "wave",
  ]

  func apply(to tree: inout BoxTree, _ choices: inout Choices) {
    switch choices.below(10) {
    case 0...4: spoilTable(&tree, &choices)
    case 5: changeEntries(&tree, &choices)
    case 6, 7: changeStructure(&tree, &choices)
    case 8: exchange(&tree, &choices)
    default: spoilAny(&tree, &choices)
    }
  }

  /// Changes one to three fields of a table or of another box that is read.
  private func spoilTable(_ tree: inout BoxTree, _ choices: inout Choices) {
    let paths = tree.paths.filter { Self.tables.contains(tree[$0].type) }
    guard let path = choices.element(of: paths) else { return }
    for _ in 0...choices.below(3) {
      let count = tree[path].fields.count
      let width = choices.weighted([(6, 4), (3, 1), (2, 2), (1, 8)])
      let offset = choices.below(max(1, count / width)) * width
      choices.spoilNumber(in: &tree[path].fields, at: offset, width: width)
    }
  }

  /// The bytes of an entry, and the offset of the number of entries.
  private static let entries: [String: (bytes: Int, count: Int)] = [
    "stts": (8, 4), "ctts": (8, 4), "stsc": (12, 4), "stco": (4, 4), "co64": (8, 4), "stss": (4, 4), "elst": (12, 4),
    "stsz": (4, 8),
  ]

  /// Removes, repeats or exchanges entries of a table, whose number of entries stays right.
  private func changeEntries(_ tree: inout BoxTree, _ choices: inout Choices) {
    let paths = tree.paths.filter { Self.entries[tree[$0].type] != nil }
    guard let path = choices.element(of: paths), let layout = Self.entries[tree[path].type] else { return }
    var fields = tree[path].fields
    let start = layout.count + 4
    let count = (fields.count - start) / layout.bytes
    guard count > 0 else { return }
    let index = start + choices.below(count) * layout.bytes
    let entry = Array(fields[index..<index + layout.bytes])
    switch choices.below(4) {
    case 0: fields.removeSubrange(index..<index + layout.bytes)
    case 1: fields.insert(contentsOf: entry, at: index)
    case 2: fields.replaceSubrange(start..<start + layout.bytes, with: entry)
    default: choices.spoilNumber(in: &fields, at: index + choices.below(layout.bytes / 4) * 4, width: 4)
    }
    let new = (fields.count - start) / layout.bytes
    fields.replaceSubrange(layout.count..<layout.count + 4, with: bigEndian(UInt32(new)))
    tree[path].fields = fields
  }

  private static let types = [
    "free", "skip", "wide", "uuid", "udta", "meta", "trak", "mdia", "stbl", "stsd", "edts", "moof", "mvex", "mdat",
    "moov", "ftyp", "sidx", "hvc1", "avc1", "mp4a", "soun", "vide", "grid", "iovl", "iden", "tmap", "Exif", "mime",
  ]

  /// Removes, repeats, exchanges, renames, wraps or adds a box.
  private func changeStructure(_ tree: inout BoxTree, _ choices: inout Choices) {
    guard let path = choices.element(of: tree.paths), let index = path.last else { return }
    var nodes = tree.siblings(of: path)
    let type = choices.element(of: Self.types) ?? "free"
    switch choices.below(7) {
    case 0: nodes.remove(at: index)
    case 1: nodes.insert(nodes[index], at: choices.below(nodes.count + 1))
    case 2: nodes.swapAt(index, choices.below(nodes.count))
    case 3: nodes[index].type = type
    case 4: nodes[index] = BoxTree.Node(type, children: [nodes[index]])
    case 5: nodes.insert(BoxTree.Node(type, choices.bytes(choices.below(40))), at: index)
    default: nodes[index].hasLargeSize.toggle()
    }
    tree.setSiblings(of: path, nodes)
  }

  /// Takes a box of the same type from the other file.
  private func exchange(_ tree: inout BoxTree, _ choices: inout Choices) {
    guard let other, let path = choices.element(of: tree.paths) else { return spoilAny(&tree, &choices) }
    guard let found = choices.element(of: other.paths(to: tree[path].type)) else { return }
    var node = other[found]
    // What points into the media data of a file points into those of the other one now.
    node.origin = tree[path].origin
    tree[path] = node
  }

  private func spoilAny(_ tree: inout BoxTree, _ choices: inout Choices) {
    guard let path = choices.element(of: tree.paths.filter { !tree[$0].fields.isEmpty }) else { return }
    let count = tree[path].fields.count
    if choices.chance(percent: 50) {
      choices.flipBits(in: &tree[path].fields, 0..<count)
    } else {
      choices.spoilNumber(in: &tree[path].fields, at: choices.below(count), width: choices.chance(percent: 50) ? 4 : 1)
    }
  }
}
