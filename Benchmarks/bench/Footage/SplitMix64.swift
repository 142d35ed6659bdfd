import Glibc

/// A small generator with a seed (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
struct SplitMix64: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var value = state
    value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
    value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
    return value ^ (value >> 31)
  }

  /// Evenly spread between two bounds.
  mutating func uniform(_ low: Float, _ high: Float) -> Float { Float.random(in: low..<high, using: &self) }

  /// Normally distributed (Box and Muller).
  mutating func normal(_ mean: Float, _ deviation: Float) -> Float {
    mean + deviation * (-2 * log(uniform(1e-7, 1))).squareRoot() * cos(2 * .pi * uniform(0, 1))
  }
}
