/// A flat colour in BT.709 limited range that survives every conversion recognisably.
package enum MarkColor: Hashable, Sendable, CaseIterable {
  case red, blue, green

  /// Its 8-bit components.
  var components: (y: UInt8, u: UInt8, v: UInt8) {
    switch self {
    case .red: (63, 102, 240)
    case .blue: (32, 240, 118)
    case .green: (173, 42, 26)
    }
  }

  /// Its components in full range.
  var fullRangeComponents: (y: UInt8, u: UInt8, v: UInt8) {
    let (y, u, v) = components
    func chroma(_ value: UInt8) -> UInt8 { UInt8(min(255, max(0, (Double(value) - 128) * 255 / 224 + 128)).rounded()) }
    return (UInt8(((Double(y) - 16) * 255 / 219).rounded()), chroma(u), chroma(v))
  }

  /// The colour whose chroma is near to these values; nil for any other.
  package init?(u: UInt8, v: UInt8) {
    let found = Self.allCases.first { color in
      abs(Int(color.components.u) - Int(u)) < 8 && abs(Int(color.components.v) - Int(v)) < 8
    }
    guard let found else { return nil }
    self = found
  }
}
