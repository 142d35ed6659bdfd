import AV
import Testing

@Suite("Resampler")
struct ResamplerTests {
  @Test("takes frames of the shape it was made for and refuses all others", arguments: [(48_000, 1), (24_000, 2)])
  func shape(rate: Int, channels: Int) throws {
    let first = try Frame(sampleCapacity: 1024, sampleRate: 48_000, channels: 2)
    let other = try Frame(sampleCapacity: 1024, sampleRate: rate, channels: channels)
    let resampler = try Resampler(like: first, toRate: 48_000, channels: 2)
    let (takesFirst, takesOther) = (resampler.accepts(first), resampler.accepts(other))
    #expect(takesFirst)
    #expect(!takesOther)
    try resampler.send(first)
    #expect(throws: AVError.self) { try resampler.send(other) }
  }
}
