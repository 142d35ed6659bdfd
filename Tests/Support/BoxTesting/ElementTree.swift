/// The elements of a file of EBML (RFC 8794), such as a WebM, as a tree that can be changed. When it is written, every size is that of
/// its content, unless it is unknown.
package struct ElementTree {
  /// An element with its children, or with its content.
  package struct Node {
    /// The id with its marker.
    package var id: UInt32
    package var content: [UInt8]
    /// Nil: it has other content.
    package var children: [Node]?
    package var hasUnknownSize = false

    package init(_ id: UInt32, _ content: [UInt8] = [], children: [Node]? = nil) {
      self.id = id
      self.content = content
      self.children = children
    }

    package var bytes: [UInt8] {
      let content = children.map { $0.flatMap(\.bytes) } ?? content
      return elementID(id) + (hasUnknownSize ? unknownSize : elementSize(content.count)) + content
    }
  }

  package var elements: [Node]

  /// Reads a file; nil if its elements do not fill it.
  package init?(_ bytes: [UInt8]) {
    guard bytes.starts(with: [0x1A, 0x45, 0xDF, 0xA3]), let elements = Self.list(bytes[...], in: nil) else {
      return nil
    }
    self.elements = elements
  }

  package var bytes: [UInt8] { elements.flatMap(\.bytes) }

  /// The ids of elements with children.
  private static let masters: Set<UInt32> = [
    0x1A45_DFA3, 0x1853_8067, 0x114D_9B74, 0x4DBB, 0x1549_A966, 0x1654_AE6B, 0xAE, 0xE0, 0xE1, 0x55B0, 0x1F43_B675,
    0xA0, 0x1C53_BB6B, 0xBB, 0xB7, 0x1254_C367, 0x7373, 0x67C8,
  ]
  private static let partsOfSegment: Set<UInt32> = [
    0x114D_9B74, 0x1549_A966, 0x1654_AE6B, 0x1F43_B675, 0x1C53_BB6B, 0x1254_C367,
  ]

  private static func list(_ bytes: ArraySlice<UInt8>, in parent: UInt32?) -> [Node]? {
    var rest = bytes
    return list(&rest, in: parent, isOpen: false)
  }

  /// - Parameter isOpen: whether the parent has an unknown size, and ends in front of an element that is not its child.
  private static func list(_ rest: inout ArraySlice<UInt8>, in parent: UInt32?, isOpen: Bool) -> [Node]? {
    var nodes: [Node] = []
    while !rest.isEmpty {
      var next = rest
      guard let id = number(&next, isID: true), let size = number(&next, isID: false) else { return nil }
      if isOpen, parent == 0x1F43_B675, partsOfSegment.contains(UInt32(truncatingIfNeeded: id.value)) { return nodes }
      var node = Node(UInt32(truncatingIfNeeded: id.value))
      node.hasUnknownSize = size.value == (1 << UInt64(7 * size.length)) - 1
      if node.hasUnknownSize {
        rest = next
        guard let children = list(&rest, in: node.id, isOpen: true) else { return nil }
        node.children = children
      } else {
        guard size.value <= UInt64(next.count) else { return nil }
        let content = next.prefix(Int(size.value))
        rest = next.dropFirst(content.count)
        node.children = masters.contains(node.id) ? list(content, in: node.id) : nil
        if node.children == nil { node.content = Array(content) }
      }
      nodes.append(node)
    }
    return nodes
  }

  /// Reads a number of variable length, with its marker if it is an id.
  private static func number(_ rest: inout ArraySlice<UInt8>, isID: Bool) -> (value: UInt64, length: Int)? {
    guard let first = rest.first, first != 0 else { return nil }
    let length = first.leadingZeroBitCount + 1
    guard length <= (isID ? 4 : 8), rest.count >= length else { return nil }
    let marked = rest.prefix(length).reduce(0) { $0 << 8 | UInt64($1) }
    rest = rest.dropFirst(length)
    return (isID ? marked : marked & ((1 << UInt64(7 * length)) - 1), length)
  }
}

extension ElementTree {
  /// The indices that lead from the outermost elements to one of the tree.
  package typealias Path = [Int]

  package subscript(path: Path) -> Node {
    get { path.dropFirst().reduce(elements[path[0]]) { node, index in (node.children ?? [])[index] } }
    set { Self.replace(&elements, path[...], newValue) }
  }

  private static func replace(_ nodes: inout [Node], _ path: ArraySlice<Int>, _ node: Node) {
    guard let index = path.first else { return }
    if path.count == 1 {
      nodes[index] = node
    } else {
      replace(&nodes[index].children!, path.dropFirst(), node)
    }
  }

  /// The paths to all elements, each in front of its children.
  package var paths: [Path] {
    func paths(_ nodes: [Node], _ prefix: Path) -> [Path] {
      nodes.enumerated().flatMap { index, node in
        [prefix + [index]] + paths(node.children ?? [], prefix + [index])
      }
    }
    return paths(elements, [])
  }

  /// The paths to the elements with an id.
  package func paths(to id: UInt32) -> [Path] { paths.filter { self[$0].id == id } }

  /// The siblings of the element at a path, itself included.
  package func siblings(of path: Path) -> [Node] {
    path.count == 1 ? elements : self[Array(path.dropLast())].children ?? []
  }

  package mutating func setSiblings(of path: Path, _ nodes: [Node]) {
    if path.count == 1 { elements = nodes } else { self[Array(path.dropLast())].children = nodes }
  }

  /// Removes all elements with one of some ids.
  package mutating func remove(_ ids: Set<UInt32>) {
    func rest(_ nodes: [Node]) -> [Node] {
      nodes.filter { !ids.contains($0.id) }.map { node in
        var node = node
        node.children = node.children.map(rest)
        return node
      }
    }
    elements = rest(elements)
  }

  /// The file as a browser records it: without an index, durations and tags, and with segment and clusters of unknown size.
  package var live: ElementTree {
    var live = self
    // SeekHead, Cues, Tags, Duration and DefaultDuration, and what fills the room for them.
    live.remove([0x114D_9B74, 0x1C53_BB6B, 0x1254_C367, 0x4489, 0x23_E383, 0xEC])
    for path in live.paths where [0x1853_8067, 0x1F43_B675].contains(live[path].id) { live[path].hasUnknownSize = true }
    return live
  }
}

/// The bytes of the id of an element.
package func elementID(_ id: UInt32) -> [UInt8] { Array(bigEndian(id).drop { $0 == 0 }) }

/// The bytes of the size of an element, as few as hold it.
package func elementSize(_ count: Int) -> [UInt8] {
  var length = 1
  while length < 8, count >= (1 << (7 * length)) - 1 { length += 1 }
  let marker: UInt64 = 1 << UInt64(7 * length)
  return Array(bigEndian(UInt64(count) | marker).suffix(length))
}

/// The size of an element whose size is unknown.
package let unknownSize: [UInt8] = [0x01] + [UInt8](repeating: 0xFF, count: 7)
