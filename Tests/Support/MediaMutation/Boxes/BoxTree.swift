import BoxTesting

/// The boxes of a file (ISO/IEC 14496-12, 4.2) as a tree that can be changed. When it is written, every size is that of
/// its content, and the offsets of samples and items follow the boxes that they point into.
package struct BoxTree {
  /// A box with the fields in front of its children, or with all of its content.
  package struct Node {
    package var type: String
    package var fields: [UInt8]
    /// Nil: it is not a container.
    package var children: [Node]?
    var hasLargeSize = false
    /// The range of an outermost box in the file that was read.
    var origin: Range<Int>?

    package init(_ type: String, _ fields: [UInt8] = [], children: [Node]? = nil) {
      self.type = type
      self.fields = fields
      self.children = children
    }

    var count: Int { (hasLargeSize ? 16 : 8) + contentCount }
    private var contentCount: Int { fields.count + (children ?? []).reduce(0) { $0 + $1.count } }

    func write(to bytes: inout [UInt8]) {
      let type = self.type.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
      if hasLargeSize {
        bytes += bigEndian(UInt32(1)) + type + bigEndian(UInt64(count))
      } else {
        bytes += bigEndian(UInt32(truncatingIfNeeded: count)) + type
      }
      bytes += fields
      for child in children ?? [] { child.write(to: &bytes) }
    }
  }

  package var boxes: [Node]

  package init(_ boxes: [Node]) { self.boxes = boxes }

  /// Reads a file; nil if its outermost boxes do not fill it.
  package init?(_ bytes: [UInt8]) {
    guard let boxes = Self.list(bytes, 0..<bytes.count, depth: 0), !boxes.isEmpty else { return nil }
    self.boxes = boxes
  }

  private static let maxDepth = 12

  private static func list(_ bytes: [UInt8], _ range: Range<Int>, depth: Int) -> [Node]? {
    var nodes: [Node] = []
    var offset = range.lowerBound
    while offset < range.upperBound {
      guard range.upperBound - offset >= 8 else { return nil }
      var (size, header) = (word(bytes, offset), 8)
      if size == 0 { size = range.upperBound - offset }
      if size == 1, range.upperBound - offset >= 16, word(bytes, offset + 8) == 0 {
        (size, header) = (word(bytes, offset + 12), 16)
      }
      guard size >= header, size <= range.upperBound - offset else { return nil }
      let type = String(String.UnicodeScalarView(bytes[offset + 4..<offset + 8].map { Unicode.Scalar($0) }))
      var node = self.node(type, bytes, offset + header..<offset + size, depth: depth)
      node.hasLargeSize = header == 16
      if depth == 0 { node.origin = offset..<offset + size }
      nodes.append(node)
      offset += size
    }
    return nodes
  }

  private static func node(_ type: String, _ bytes: [UInt8], _ content: Range<Int>, depth: Int) -> Node {
    guard depth < maxDepth, let before = fieldBytes(type, Array(bytes[content].prefix(16))), before <= content.count,
      let children = list(bytes, content.lowerBound + before..<content.upperBound, depth: depth + 1)
    else { return Node(type, Array(bytes[content])) }
    return Node(type, Array(bytes[content.prefix(before)]), children: children)
  }

  /// The number of bytes in front of the children of a container; nil of other boxes.
  private static func fieldBytes(_ type: String, _ start: [UInt8]) -> Int? {
    switch type {
    case "moov", "trak", "edts", "mdia", "minf", "dinf", "stbl", "mvex", "moof", "traf", "udta", "iprp", "ipco": 0
    // QuickTime's has no version.
    case "meta": start.dropFirst(4).starts(with: "hdlr".utf8) ? 0 : 4
    case "iref": 4
    case "iinf": start.first == 0 ? 6 : 8
    case "stsd", "dref": 8
    case "avc1", "hvc1", "hev1": 78
    // The versions of QuickTime's sample entry have more fields.
    case "mp4a": start.count > 9 && start[9] == 0 ? 28 : nil
    default: nil
    }
  }

  static func word(_ bytes: [UInt8], _ offset: Int) -> Int {
    bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
  }

  /// The file.
  package var bytes: [UInt8] {
    var boxes = boxes
    OffsetCorrection(of: boxes).apply(to: &boxes)
    var bytes: [UInt8] = []
    bytes.reserveCapacity(boxes.reduce(0) { $0 + $1.count })
    for box in boxes { box.write(to: &bytes) }
    return bytes
  }
}

extension BoxTree {
  /// The indices that lead from the outermost boxes to one of the tree.
  package typealias Path = [Int]

  package subscript(path: Path) -> Node {
    get {
      path.dropFirst().reduce(boxes[path[0]]) { node, index in (node.children ?? [])[index] }
    }
    set { Self.replace(&boxes, path[...], newValue) }
  }

  private static func replace(_ nodes: inout [Node], _ path: ArraySlice<Int>, _ node: Node) {
    guard let index = path.first else { return }
    if path.count == 1 {
      nodes[index] = node
    } else {
      replace(&nodes[index].children!, path.dropFirst(), node)
    }
  }

  /// The paths to all boxes, each container in front of its children.
  package var paths: [Path] {
    func paths(_ nodes: [Node], _ prefix: Path) -> [Path] {
      nodes.enumerated().flatMap { index, node in
        [prefix + [index]] + paths(node.children ?? [], prefix + [index])
      }
    }
    return paths(boxes, [])
  }

  /// The paths to the boxes of a type.
  package func paths(to type: String) -> [Path] { paths.filter { self[$0].type == type } }

  /// The first box of a type.
  package func first(_ type: String) -> Node? { paths.first { self[$0].type == type }.map { self[$0] } }

  /// The siblings of the box at a path, itself included.
  func siblings(of path: Path) -> [Node] { path.count == 1 ? boxes : self[path.dropLast()].children ?? [] }

  mutating func setSiblings(of path: Path, _ nodes: [Node]) {
    if path.count == 1 { boxes = nodes } else { self[path.dropLast()].children = nodes }
  }
}
