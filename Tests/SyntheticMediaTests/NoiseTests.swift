import SyntheticMedia
import Testing

@Suite struct NoiseTests {
  @Test func valuesSpreadEvenlyBetweenZeroAndOne() {
    let noise = Noise(seed: 5)
    var tenths = [Int](repeating: 0, count: 10)
    for y in Int32(-50)..<50 {
      for x in Int32(-50)..<50 { tenths[Int(noise.value(x, y) * 10)] += 1 }
    }
    for count in tenths { #expect(abs(count - 1000) < 150) }
  }

  @Test func smoothFieldsHaveNoSteps() {
    let noise = Noise(seed: 6)
    var previous = noise.smooth(0, 0.3)
    for step in 1...4000 {
      let value = noise.smooth(Float(step) / 400, 0.3)
      #expect(abs(value - previous) < 0.02)
      previous = value
    }
  }

  @Test func seedsMakeDifferentFields() {
    #expect(Noise(seed: 1).fractal(3.3, 4.4, octaves: 4) != Noise(seed: 2).fractal(3.3, 4.4, octaves: 4))
    #expect(Noise(seed: 1).fractal(3.3, 4.4, octaves: 4) == Noise(seed: 1).fractal(3.3, 4.4, octaves: 4))
  }
}
