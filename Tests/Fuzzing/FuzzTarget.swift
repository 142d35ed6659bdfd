/// A parser of bytes from outside, with what must hold for every input.
struct FuzzTarget: Sendable {
  /// The name of its folder of seeds.
  let name: String
  private let parse: @Sendable ([UInt8]) throws -> Void

  static let all = containers + images + arrivals + drawing + requests + identities + bodies + replies

  /// - Parameter parse: parses an input. An error refuses the input; a finding is a trap, a sanitizer's report, a
  ///   timeout, or too much memory.
  init(_ name: String, _ parse: @escaping @Sendable ([UInt8]) throws -> Void) {
    self.name = name
    self.parse = parse
  }

  /// Parses an input.
  func run(_ bytes: [UInt8]) { try? parse(bytes) }
}

/// Ends the process with a message that optimised code prints too, unless something holds that must hold for every input.
func expect(_ holds: Bool, _ finding: @autoclosure () -> String) {
  if !holds { fatalError(finding()) }
}

/// Takes numbers and bytes from an input; zeros after its end.
struct InputReader {
  private(set) var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }

  mutating func flag() -> Bool { byte() & 1 == 1 }

  /// A number within a range of at most 65536 numbers.
  mutating func number(in range: ClosedRange<Int>) -> Int {
    range.lowerBound + (Int(byte()) << 8 | Int(byte())) % range.count
  }
}

extension [UInt8] {
  /// The text, with U+FFFD for what is not UTF-8.
  var text: String { String(decoding: self, as: UTF8.self) }

  /// Both sides of the first NUL; the second one is empty without a NUL.
  var halves: (first: [UInt8], second: [UInt8]) {
    let parts = split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
    return (Array(parts[0]), parts.count > 1 ? Array(parts[1]) : [])
  }

  /// The same bytes in pieces, whose lengths depend on the bytes.
  var pieces: [[UInt8]] {
    var pieces: [[UInt8]] = []
    var rest = self[...]
    while let first = rest.first {
      let count = 1 + Int((first ^ UInt8(truncatingIfNeeded: rest.count)) % 7)
      pieces.append(Array(rest.prefix(count)))
      rest = rest.dropFirst(count)
    }
    return pieces
  }
}
