import Kernels
import Testing

@Suite("Correlation")
struct CorrelationTests {
  static let sound: [Int16] = (0..<3000).map { (index: Int) -> Int16 in
    var value = UInt64(index) &* 0x9E37_79B9_7F4A_7C15
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    return Int16(truncatingIfNeeded: Int(value >> 40) % 4001 - 2000)
  }

  @Test("a sound is itself where it is moved back, and nothing like itself elsewhere", arguments: [0, 1, 77, -130])
  func finds(lag: Int) {
    let moved = lag >= 0 ? Array(Self.sound.dropFirst(lag)) : [Int16](repeating: 0, count: -lag) + Self.sound
    let correlation = Correlation(Self.sound, moved)
    #expect(abs(correlation.value(atLag: lag) - 1) < 1e-9)
    #expect(abs(correlation.value(atLag: lag + 40)) < 0.3)
  }

  @Test("loud samples add up exactly, the opposite is the opposite, and silence is like nothing")
  func limits() {
    let loud = [Int16](repeating: 2047, count: 20_000)
    #expect(abs(Correlation(loud, loud).value(atLag: 0) - 1) < 1e-12)
    #expect(abs(Correlation(loud, loud.map { -$0 }).value(atLag: 0) + 1) < 1e-12)
    #expect(Correlation(loud, [Int16](repeating: 0, count: 20_000)).value(atLag: 0) == 0)
    #expect(Correlation([], loud).value(atLag: 3) == 0)
    // A sliver of what both share proves nothing.
    #expect(Correlation(loud, loud).value(atLag: 19_990) == 0)
  }
}
