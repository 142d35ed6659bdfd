import Kernels
import Testing

@Suite("Correlation")
struct CorrelationTests {
  static let signal: [Int16] = (0..<3000).map { (index: Int) -> Int16 in
    var value = UInt64(index) &* 0x9E37_79B9_7F4A_7C15
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    return Int16(truncatingIfNeeded: Int(value >> 40) % 4001 - 2000)
  }

  @Test("a shifted signal correlates at its lag and not elsewhere", arguments: [0, 1, 77, -130])
  func finds(lag: Int) {
    let moved = lag >= 0 ? Array(Self.signal.dropFirst(lag)) : [Int16](repeating: 0, count: -lag) + Self.signal
    let correlation = Correlation(Self.signal, moved)
    #expect(abs(correlation.value(atLag: lag) - 1) < 1e-9)
    #expect(abs(correlation.value(atLag: lag + 40)) < 0.3)
  }

  @Test("sums of the loudest samples are exact, inversion gives -1, and silence gives 0")
  func limits() {
    let loud = [Int16](repeating: 2047, count: 20_000)
    #expect(abs(Correlation(loud, loud).value(atLag: 0) - 1) < 1e-12)
    #expect(abs(Correlation(loud, loud.map { -$0 }).value(atLag: 0) + 1) < 1e-12)
    let lowest = [Int16](repeating: Correlation.bounds.lowerBound, count: 20_000)
    #expect(abs(Correlation(lowest, lowest).value(atLag: 0) - 1) < 1e-12)
    #expect(Correlation(loud, [Int16](repeating: 0, count: 20_000)).value(atLag: 0) == 0)
    #expect(Correlation([], loud).value(atLag: 3) == 0)
    // The overlap is too short to be significant.
    #expect(Correlation(loud, loud).value(atLag: 19_990) == 0)
  }
}
