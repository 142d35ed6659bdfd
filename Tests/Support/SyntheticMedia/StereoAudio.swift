/// Two channels of sound.
package struct StereoAudio: Sendable {
  /// In hertz.
  package let sampleRate: Int
  /// The left channel, -1 to 1.
  package let left: [Float]
  /// The right channel, -1 to 1, as long as the left one.
  package let right: [Float]

  /// Sound by formula: `sample` gives both channels at a time in seconds.
  package init(seconds: Double, sampleRate: Int = 48_000, _ sample: (_ time: Float) -> (left: Float, right: Float)) {
    let count = Int((seconds * Double(sampleRate)).rounded())
    let samples = (0..<count).map { sample(Float($0) / Float(sampleRate)) }
    self.sampleRate = sampleRate
    left = samples.map(\.left)
    right = samples.map(\.right)
  }
}
