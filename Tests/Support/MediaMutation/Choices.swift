import SeededRandom

/// The choices of one mutation: the same seed makes the same choices.
package struct Choices {
  private var random: SplitMix64

  package init(seed: UInt64) { random = SplitMix64(seed: seed) }

  /// A number from 0 up to a bound; 0 if there is none below it.
  mutating func below(_ bound: Int) -> Int { bound <= 1 ? 0 : Int(random.next() % UInt64(bound)) }

  mutating func chance(percent: Int) -> Bool { below(100) < percent }

  mutating func byte() -> UInt8 { UInt8(truncatingIfNeeded: random.next()) }

  mutating func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in byte() } }

  /// An element; nil of an empty collection.
  mutating func element<Elements: RandomAccessCollection>(of elements: Elements) -> Elements.Element? {
    elements.isEmpty ? nil : elements[elements.index(elements.startIndex, offsetBy: below(elements.count))]
  }

  /// An index; nil of an empty array.
  mutating func index<Element>(in elements: [Element]) -> Int? { elements.isEmpty ? nil : below(elements.count) }

  /// An element by its weight.
  mutating func weighted<Element>(_ elements: [(weight: Int, element: Element)]) -> Element {
    var rest = below(elements.reduce(0) { $0 + $1.weight })
    for (weight, element) in elements {
      if rest < weight { return element }
      rest -= weight
    }
    return elements[0].element
  }
}

extension Choices {
  /// A wrong value that a broken or hostile writer puts into a field of a width in bytes.
  mutating func wrongValue(for value: UInt64, width: Int) -> UInt64 {
    let bits = UInt64(8 * width)
    let all = bits == 64 ? UInt64.max : 1 << bits - 1
    let wrong: UInt64 =
      switch below(13) {
      case 0: 0
      case 1: 1
      case 2, 3: value &+ 1
      case 4, 5: value &- 1
      case 6: value &* 2
      case 7: value / 2
      case 8: value ^ (1 << UInt64(below(Int(bits))))
      case 9: all
      case 10: all >> 1
      case 11: all >> 1 &+ 1
      default: random.next()
      }
    return wrong & all
  }

  /// Replaces the number at an offset, big or little endian, by a wrong one.
  mutating func spoilNumber(in bytes: inout [UInt8], at offset: Int, width: Int, isLittle: Bool = false) {
    guard offset >= 0, offset + width <= bytes.count else { return }
    let range = offset..<offset + width
    let old = isLittle ? Array(bytes[range].reversed()) : Array(bytes[range])
    let value = wrongValue(for: old.reduce(0) { $0 << 8 | UInt64($1) }, width: width)
    let new = (0..<width).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * (width - 1 - $0))) }
    bytes.replaceSubrange(range, with: isLittle ? new.reversed() : new)
  }

  /// Flips one to four bits in a range.
  mutating func flipBits(in bytes: inout [UInt8], _ range: Range<Int>) {
    let range = range.clamped(to: 0..<bytes.count)
    guard !range.isEmpty else { return }
    for _ in 0...below(4) { bytes[range.lowerBound + below(range.count)] ^= 1 << UInt8(below(8)) }
  }
}
