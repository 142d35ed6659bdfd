import Glibc

/// The samples of one channel, and what they contain.
package struct DecodedAudio: Sendable {
  /// In hertz.
  package let sampleRate: Int
  /// When the first sample is heard, in seconds.
  package private(set) var start: Double = 0
  /// From -1 to 1.
  package private(set) var samples: [Float] = []

  init(sampleRate: Int) { self.sampleRate = sampleRate }

  mutating func append(_ more: UnsafeMutableBufferPointer<Float>, at seconds: Double) {
    if samples.isEmpty { start = seconds }
    samples.append(contentsOf: more)
  }

  /// The amplitude of a frequency over all samples, by Goertzel's algorithm (Am. Math. Monthly 65, 1958).
  package func strength(of frequency: Double) -> Double {
    let turn = 2 * Double.pi * frequency / Double(sampleRate)
    let factor = 2 * cos(turn)
    var (last, beforeLast) = (0.0, 0.0)
    for sample in samples { (last, beforeLast) = (Double(sample) + factor * last - beforeLast, last) }
    let power = last * last + beforeLast * beforeLast - factor * last * beforeLast
    return 2 * max(0, power).squareRoot() / Double(max(1, samples.count))
  }

  /// When the sound first is louder than `level`, in seconds; nil if never.
  package func onset(above level: Float = 0.1) -> Double? {
    samples.firstIndex { abs($0) > level }.map { start + Double($0) / Double(sampleRate) }
  }
}
