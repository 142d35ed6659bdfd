import AV
import Testing

@Suite("Scaler")
struct ScalerTests {
  private struct NoPlane: Error {}

  private static func convert(
    _ color: (UInt8, UInt8, UInt8), matrix: ColorMatrix, isFullRange: Bool
  ) throws -> (Int, Int, Int) {
    let source = try Frame(width: 64, height: 64, format: .yuv420p)
    let target = try Frame(width: 32, height: 32, format: .rgb24)
    for (index, value) in [color.0, color.1, color.2].enumerated() {
      guard let plane = source.plane(index) else { throw NoPlane() }
      plane.base.initializeMemory(as: UInt8.self, repeating: value, count: plane.stride * (index == 0 ? 64 : 32))
    }
    let scaler = try Scaler(
      from: .init(width: 64, height: 64, format: .yuv420p, matrix: matrix, isFullRange: isFullRange),
      to: .init(width: 32, height: 32, format: .rgb24, matrix: .bt709, isFullRange: true))
    guard let y = source.plane(0), let u = source.plane(1), let v = source.plane(2), let rgb = target.plane(0) else {
      throw NoPlane()
    }
    try scaler.scale(Scaler.Planes(y, u, v), to: Scaler.Planes(rgb.base, stride: rgb.stride))
    let pixel = (rgb.base + 16 * rgb.stride + 16 * 3).assumingMemoryBound(to: UInt8.self)
    return (Int(pixel[0]), Int(pixel[1]), Int(pixel[2]))
  }

  @Test("greys are as bright in RGB as in the planes", arguments: [ColorMatrix.bt601, .bt709, .bt2020])
  func greys(matrix: ColorMatrix) throws {
    var difference = 0.0
    for luma in 16...235 {
      let (red, green, blue) = try Self.convert((UInt8(luma), 128, 128), matrix: matrix, isFullRange: false)
      let expected = Double(luma - 16) * 255 / 219
      #expect([red, green, blue].allSatisfy { abs(Double($0) - expected) <= 1 }, "\(luma) is \((red, green, blue))")
      difference += Double(green) - expected
    }
    #expect(abs(difference / 220) < 0.1)
  }

  @Test("uses the given range and matrix")
  func colors() throws {
    // The same code is a different grey in each range.
    for (luma, isFullRange, expected) in [(126, true, 126), (235, false, 255), (16, false, 0), (235, true, 235)] {
      for matrix in [ColorMatrix.bt601, .bt709, .bt2020] {
        let (red, green, blue) = try Self.convert((UInt8(luma), 128, 128), matrix: matrix, isFullRange: isFullRange)
        #expect([red, green, blue].allSatisfy { abs($0 - expected) <= 2 }, "\(luma) is \((red, green, blue))")
      }
    }
    // Pure red has different codes in BT.601 and BT.709.
    for (color, matrix) in [((81, 90, 240), ColorMatrix.bt601), ((63, 102, 240), .bt709)]
      as [((UInt8, UInt8, UInt8), _)]
    {
      let (red, green, blue) = try Self.convert(color, matrix: matrix, isFullRange: false)
      #expect(red > 250 && green < 5 && blue < 5)
    }
  }
}

@Suite("Resampler")
struct ResamplerTests {
  private struct NoSamples: Error {}

  @Test(
    "the level of a sound that all channels have stays what it is, of one channel and of six", arguments: [1, 2, 6])
  func level(channels: Int) throws {
    let (count, level) = (4800, Float(0.1))
    let frame = try Frame(sampleCapacity: count, sampleRate: 48_000, channels: channels)
    frame.setSampleCount(count)
    for channel in 0..<channels {
      guard let samples = frame.samples(ofChannel: channel) else { throw NoSamples() }
      for index in 0..<count { samples[index] = level * (index % 48 < 24 ? 1 : -1) }
    }
    let resampler = try Resampler(like: frame, toRate: 48_000, channels: 2)
    try resampler.send(frame)
    let mixed = try Frame(sampleCapacity: count, sampleRate: 48_000, channels: 2)
    let received = try resampler.receive(into: mixed, at: 0, count: count)
    #expect(received == count)
    mixed.setSampleCount(count)
    for channel in 0..<2 {
      guard let samples = mixed.samples(ofChannel: channel) else { throw NoSamples() }
      let peak = samples.map { abs($0) }.max() ?? 0
      #expect(abs(peak - level) < 0.001, "channel \(channel) has \(peak)")
    }
  }

  @Test(
    "rates and channels that no recording has are not resampled",
    arguments: [
      (3_999, 1, false), (4_000, 1, true), (384_000, 2, true), (384_001, 2, false), (48_000, 8, true),
      (48_000, 9, false), (48_000, 65, false),
    ])
  func recordings(rate: Int, channels: Int, isResamplable: Bool) throws {
    let frame = try Frame(sampleCapacity: 8, sampleRate: rate, channels: channels)
    let found = frame.isResamplable
    #expect(found == isResamplable)
    if isResamplable { _ = try Resampler(like: frame, toRate: 48_000, channels: 1) }
  }

  @Test("accepts frames of its format and refuses all others", arguments: [(48_000, 1), (24_000, 2)])
  func format(rate: Int, channels: Int) throws {
    let first = try Frame(sampleCapacity: 1024, sampleRate: 48_000, channels: 2)
    let other = try Frame(sampleCapacity: 1024, sampleRate: rate, channels: channels)
    let resampler = try Resampler(like: first, toRate: 48_000, channels: 2)
    let (acceptsFirst, acceptsOther) = (resampler.accepts(first), resampler.accepts(other))
    #expect(acceptsFirst)
    #expect(!acceptsOther)
    try resampler.send(first)
    #expect(throws: AVError.self) { try resampler.send(other) }
  }
}
