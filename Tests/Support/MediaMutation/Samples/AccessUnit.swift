/// The NAL units of one sample of H.264 or HEVC, each after its length (ISO/IEC 14496-15, 5.3.4).
package struct AccessUnit {
  package var units: [[UInt8]] = []
  private let lengthBytes: Int
  private let isHEVC: Bool
  /// Bytes that are no units.
  private var rest: [UInt8] = []

  package init(_ bytes: [UInt8], lengthBytes: Int, isHEVC: Bool) {
    self.lengthBytes = lengthBytes
    self.isHEVC = isHEVC
    var offset = 0
    while offset + lengthBytes < bytes.count {
      let length = bytes[offset..<offset + lengthBytes].reduce(0) { $0 << 8 | Int($1) }
      guard length > 0, length <= bytes.count - offset - lengthBytes else { break }
      units.append(Array(bytes[offset + lengthBytes..<offset + lengthBytes + length]))
      offset += lengthBytes + length
    }
    rest = Array(bytes[offset...])
  }

  /// The sample, with the length of each unit.
  package var bytes: [UInt8] {
    units.flatMap { unit in
      (0..<lengthBytes).map { UInt8(truncatingIfNeeded: unit.count >> (8 * (lengthBytes - 1 - $0))) } + unit
    } + rest
  }

  /// The parts of an access unit in which an error has different effects.
  package enum Kind: CaseIterable {
    case slice, parameterSet, information, other
  }

  /// The kind of a unit by its header (ITU-T H.264, table 7-1; H.265, table 7-1).
  package func kind(of unit: [UInt8]) -> Kind {
    let header = unit.first ?? 0
    if isHEVC {
      switch header >> 1 & 0x3F {
      case 0...31: return .slice
      case 32...34: return .parameterSet
      case 39, 40: return .information
      default: return .other
      }
    }
    switch header & 0x1F {
    case 1...5: return .slice
    case 6: return .information
    case 7, 8: return .parameterSet
    default: return .other
    }
  }

  private static let headerTypes: [UInt8] = [1, 2, 5, 6, 7, 8, 9, 10, 12, 14, 19, 20, 24, 28, 31]

  /// Changes units of a kind that is chosen first, as slices are far more frequent than others.
  mutating func change(_ choices: inout Choices) {
    let kind = choices.element(of: Kind.allCases.filter { kind in units.contains { self.kind(of: $0) == kind } })
    guard let index = choices.element(of: units.indices.filter { self.kind(of: units[$0]) == kind }) else {
      choices.flipBits(in: &rest, 0..<rest.count)
      return
    }
    var unit = units[index]
    switch choices.below(12) {
    // The header of a slice has its type, its parameter sets, its frame number and its references.
    case 0...2: choices.flipBits(in: &unit, 1..<12)
    case 3...5: choices.flipBits(in: &unit, min(12, unit.count - 1)..<unit.count)
    case 6: choices.flipBits(in: &unit, 0..<1)
    case 7: unit.removeLast(choices.below(unit.count))
    case 8:
      let type = choices.element(of: Self.headerTypes) ?? 1
      unit[0] = isHEVC ? choices.byte() & 0x7F : unit[0] & 0x60 | type
    case 9:
      units.insert(units[choices.below(units.count)], at: index)
      return
    case 10 where units.count > 1:
      units.remove(at: index)
      return
    default:
      // Supplemental information with a length of its own, or a start code inside of a unit.
      let isMessage = choices.chance(percent: 50)
      let message = (isHEVC ? [0x4E, 0x01] : [0x06]) + choices.bytes(2 + choices.below(20)) + [0x80]
      units.insert(isMessage ? message : [0x00, 0x00, 0x01] + choices.bytes(4), at: index)
      return
    }
    units[index] = unit
  }
}
