/// Changes of a HEIF or AVIF: its items, their properties and their data.
struct HEIFChanges {
  let other: BoxTree?

  func apply(to tree: inout BoxTree, _ choices: inout Choices) {
    switch choices.below(8) {
    case 0...2: changeData(&tree, &choices)
    case 3: changeConfiguration(&tree, &choices)
    case 4:
      let kinds: Set<String> = ["ispe", "irot", "imir", "clap", "pixi", "colr", "iloc", "ipma", "pitm", "infe", "auxC"]
      guard let path = choices.element(of: tree.paths.filter { kinds.contains(tree[$0].type) }) else { return }
      choices.spoilNumber(
        in: &tree[path].fields, at: choices.below(tree[path].fields.count), width: choices.chance(percent: 70) ? 1 : 4)
    default: BoxChanges(other: other).apply(to: &tree, &choices)
    }
  }

  /// Flips bits in the coded data, which start with their lengths.
  private func changeData(_ tree: inout BoxTree, _ choices: inout Choices) {
    guard let path = choices.element(of: tree.paths(to: "mdat") + tree.paths(to: "idat")) else { return }
    let count = tree[path].fields.count
    let start = choices.chance(percent: 30) ? min(4, count) : choices.below(count)
    choices.flipBits(in: &tree[path].fields, start..<min(count, start + 64))
  }

  private func changeConfiguration(_ tree: inout BoxTree, _ choices: inout Choices) {
    guard let path = choices.element(of: tree.paths(to: "hvcC") + tree.paths(to: "av1C")) else { return }
    choices.flipBits(in: &tree[path].fields, 0..<tree[path].fields.count)
  }
}
