extension Double {
  /// The number with so many decimals, without Foundation.
  func text(decimals: Int) -> String {
    let scale = (0..<decimals).reduce(1) { scale, _ in scale * 10 }
    let scaled = Int((self * Double(scale)).rounded())
    let sign = scaled < 0 ? "-" : ""
    guard decimals > 0 else { return "\(scaled)" }
    let fraction = String(scaled.magnitude % UInt(scale))
    let zeros = String(repeating: "0", count: decimals - fraction.count)
    return "\(sign)\(scaled.magnitude / UInt(scale)).\(zeros)\(fraction)"
  }
}
