/// A function over 0 to 1, computed once at many places and read between them along straight lines.
struct SampledFunction {
  private static let steps = 4096
  private let samples: [Double]

  init(_ function: (Double) -> Double) {
    samples = (0...Self.steps).map { function(Double($0) / Double(Self.steps)) }
  }

  subscript(_ place: Double) -> Double {
    let position = place * Double(Self.steps)
    let index = min(Int(position), Self.steps - 1)
    let between = position - Double(index)
    return samples[index] + (samples[index + 1] - samples[index]) * between
  }
}
