import BoxTesting

/// Changes of the elements of a WebM that keep the sizes of the others right.
struct ElementChanges {
  /// The tree of another file, for elements to exchange; nil: there is none.
  let other: ElementTree?

  // Blocks.
  private static let blocks: Set<UInt32> = [0xA3, 0xA1]

  func apply(to tree: inout ElementTree, _ choices: inout Choices) {
    switch choices.below(10) {
    case 0...2: spoilNumber(&tree, &choices)
    case 3, 4: spoilBlock(&tree, &choices)
    case 5, 6: changeStructure(&tree, &choices)
    case 7: exchange(&tree, &choices)
    case 8: toggleSize(&tree, &choices)
    default: spoilAny(&tree, &choices)
    }
  }

  private func path(
    in tree: ElementTree, _ choices: inout Choices, where isWanted: (ElementTree.Node) -> Bool
  ) -> ElementTree.Path? {
    choices.element(of: tree.paths.filter { isWanted(tree[$0]) })
  }

  /// Changes a number: a size, a time, a type or a scale.
  private func spoilNumber(_ tree: inout ElementTree, _ choices: inout Choices) {
    let found = path(in: tree, &choices) {
      $0.children == nil && 1...8 ~= $0.content.count && !Self.blocks.contains($0.id)
    }
    guard let path = found else { return }
    choices.spoilNumber(in: &tree[path].content, at: 0, width: tree[path].content.count)
  }

  /// Changes the track, the time, the lacing or the data of a block.
  private func spoilBlock(_ tree: inout ElementTree, _ choices: inout Choices) {
    guard let path = path(in: tree, &choices, where: { Self.blocks.contains($0.id) && $0.content.count > 4 }) else {
      return
    }
    let count = tree[path].content.count
    switch choices.below(6) {
    case 0: choices.spoilNumber(in: &tree[path].content, at: 0, width: 1)
    case 1: choices.spoilNumber(in: &tree[path].content, at: 1, width: 2)
    case 2: tree[path].content[3] ^= 1 << UInt8(choices.below(8))
    case 3: tree[path].content.removeLast(1 + choices.below(count))
    default: choices.flipBits(in: &tree[path].content, 4..<count)
    }
  }

  private static let ids: [UInt32] = [
    0x1A45_DFA3, 0x1853_8067, 0x114D_9B74, 0x1549_A966, 0x1654_AE6B, 0x1F43_B675, 0x1C53_BB6B, 0x1254_C367,
    0x1941_A469, 0xAE, 0xE0, 0xA0, 0xA1, 0xA3, 0xE7, 0xEC, 0xBF, 0x6D80, 0x63A2, 0x75A1, 0x23_E383, 0x56AA,
  ]

  /// Removes, repeats, exchanges, renames, wraps or adds an element.
  private func changeStructure(_ tree: inout ElementTree, _ choices: inout Choices) {
    guard let path = choices.element(of: tree.paths), let index = path.last else { return }
    var nodes = tree.siblings(of: path)
    let id = choices.element(of: Self.ids) ?? 0xEC
    switch choices.below(6) {
    case 0: nodes.remove(at: index)
    case 1: nodes.insert(nodes[index], at: choices.below(nodes.count + 1))
    case 2: nodes.swapAt(index, choices.below(nodes.count))
    case 3: nodes[index].id = id
    case 4: nodes[index] = ElementTree.Node(id, children: [nodes[index]])
    default: nodes.insert(ElementTree.Node(id, choices.bytes(choices.below(40))), at: index)
    }
    tree.setSiblings(of: path, nodes)
  }

  /// Takes an element with the same id from the other file.
  private func exchange(_ tree: inout ElementTree, _ choices: inout Choices) {
    guard let other, let path = choices.element(of: tree.paths) else { return spoilAny(&tree, &choices) }
    guard let found = choices.element(of: other.paths(to: tree[path].id)) else { return }
    tree[path] = other[found]
  }

  private func toggleSize(_ tree: inout ElementTree, _ choices: inout Choices) {
    guard let path = path(in: tree, &choices, where: { $0.children != nil }) else { return }
    tree[path].hasUnknownSize.toggle()
  }

  private func spoilAny(_ tree: inout ElementTree, _ choices: inout Choices) {
    guard let path = path(in: tree, &choices, where: { !$0.content.isEmpty }) else { return }
    choices.flipBits(in: &tree[path].content, 0..<tree[path].content.count)
  }
}
