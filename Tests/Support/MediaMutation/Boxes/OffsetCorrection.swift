import BoxTesting

/// Moves the offsets of samples and items with the outermost boxes that they point into, after boxes changed their size.
struct OffsetCorrection {
  /// Where the bytes of a box were, and by how much they have moved.
  private var moves: [(from: Range<Int>, by: Int)] = []

  init(of boxes: [BoxTree.Node]) {
    var offset = 0
    for box in boxes {
      if let origin = box.origin { moves.append((origin, offset - origin.lowerBound)) }
      offset += box.count
    }
  }

  func apply(to boxes: inout [BoxTree.Node]) {
    for index in boxes.indices {
      let growth = boxes[index].origin.map { boxes[index].count - $0.count } ?? 0
      // Offsets of fragments count from the start of their `moof`.
      correct(&boxes[index], growth: boxes[index].type == "moof" ? growth : 0)
    }
  }

  private func correct(_ node: inout BoxTree.Node, growth: Int) {
    switch node.type {
    case "stco": correctTable(&node.fields, width: 4)
    case "co64": correctTable(&node.fields, width: 8)
    case "iloc": correctLocations(&node.fields)
    case "trun" where growth != 0 && node.fields.count >= 12 && node.fields[3] & 1 == 1:
      write(number(node.fields, 8, 4) + growth, to: &node.fields, at: 8, width: 4)
    default: break
    }
    guard var children = node.children else { return }
    for index in children.indices { correct(&children[index], growth: growth) }
    node.children = children
  }

  private func number(_ bytes: [UInt8], _ offset: Int, _ width: Int) -> Int {
    Int(truncatingIfNeeded: bytes[offset..<offset + width].reduce(0) { $0 << 8 | UInt64($1) })
  }

  private func write(_ value: Int, to bytes: inout [UInt8], at offset: Int, width: Int) {
    for index in 0..<width {
      bytes[offset + index] = UInt8(truncatingIfNeeded: UInt64(bitPattern: Int64(value)) >> (8 * (width - 1 - index)))
    }
  }

  /// Corrects one offset if it lies in a box that has moved.
  private func correct(_ bytes: inout [UInt8], at offset: Int, width: Int) {
    guard width > 0, offset + width <= bytes.count else { return }
    let value = number(bytes, offset, width)
    guard let move = moves.first(where: { $0.from.contains(value) }), move.by != 0 else { return }
    write(value + move.by, to: &bytes, at: offset, width: width)
  }

  private func correctTable(_ fields: inout [UInt8], width: Int) {
    guard fields.count >= 8 else { return }
    let count = min(number(fields, 4, 4), (fields.count - 8) / width)
    for index in 0..<count { correct(&fields, at: 8 + width * index, width: width) }
  }

  /// Corrects the locations of items (ISO/IEC 14496-12, 8.11.3).
  private func correctLocations(_ fields: inout [UInt8]) {
    guard fields.count >= 10, fields[0] <= 2 else { return }
    let version = fields[0]
    let widths = (offset: Int(fields[4] >> 4), length: Int(fields[4] & 15), base: Int(fields[5] >> 4))
    let indexWidth = version == 0 ? 0 : Int(fields[5] & 15)
    guard max(widths.offset, widths.length, widths.base, indexWidth) <= 8 else { return }
    let idWidth = version == 2 ? 4 : 2
    var position = 6 + idWidth
    for _ in 0..<number(fields, 6, idWidth) {
      let isInFile =
        version == 0 || (position + idWidth + 2 <= fields.count && fields[position + idWidth + 1] & 15 == 0)
      position += idWidth + (version == 0 ? 0 : 2) + 2
      guard position + widths.base + 2 <= fields.count else { return }
      let hasBase = widths.base > 0 && number(fields, position, widths.base) > 0
      if isInFile, hasBase { correct(&fields, at: position, width: widths.base) }
      position += widths.base
      let extents = number(fields, position, 2)
      position += 2
      for _ in 0..<extents {
        guard position + indexWidth + widths.offset + widths.length <= fields.count else { return }
        if isInFile, !hasBase { correct(&fields, at: position + indexWidth, width: widths.offset) }
        position += indexWidth + widths.offset + widths.length
      }
    }
  }
}
