import ISOBaseMedia
import Testing

@Suite("H.264 samples")
struct AVCTests {
  private static let sequence: [UInt8] = [0x67, 0x64, 0x00, 0x1F, 0xAC]
  private static let picture: [UInt8] = [0x68, 0xEB, 0xE3]

  private static func configuration(
    lengths: UInt8 = 0xFF, profile: UInt8 = 0x64, sequence: [UInt8] = sequence, tail: [UInt8] = []
  ) -> [UInt8] {
    [1, profile, 0, 0x1F, lengths, 0xE1, 0, UInt8(sequence.count)] + sequence + [1, 0, UInt8(picture.count)] + picture
      + tail
  }

  @Test("a configuration is parsed, and rewritten for length fields of four bytes")
  func configuration() throws {
    let short = try #require(AVCConfiguration(Self.configuration(lengths: 0xFD)))
    #expect(short.lengthBytes == 2)
    #expect(short.sequenceParameterSets == [Self.sequence] && short.pictureParameterSets == [Self.picture])
    // The High profile has chroma format and bit depths, which this source left out.
    #expect(short.bytesForLengthSize4 == Self.configuration(tail: [0xFD, 0xF8, 0xF8, 0]))
    let complete = Self.configuration(tail: [0xFD, 0xF8, 0xF8, 0])
    #expect(AVCConfiguration(complete)?.bytesForLengthSize4 == complete)
  }

  @Test("a configuration that a strict decoder rejects is rejected")
  func rejected() {
    #expect(AVCConfiguration([]) == nil)
    // Start codes instead of the box's content.
    #expect(AVCConfiguration([0, 0, 0, 1] + Self.sequence) == nil)
    #expect(AVCConfiguration(Self.configuration(lengths: 0xFE)) == nil, "lengths of three bytes")
    #expect(AVCConfiguration(Self.configuration(profile: 0x4D)) == nil, "another profile than its parameter set's")
    #expect(AVCConfiguration(Self.configuration(sequence: Self.picture)) == nil, "a parameter set of another type")
    for count in 0..<Self.configuration().count {
      #expect(AVCConfiguration(Array(Self.configuration().prefix(count))) == nil, "cut after \(count) bytes")
    }
  }

  private static func kinds(_ sample: [UInt8], lengthBytes: Int) -> [NALUnit.Kind]? {
    var kinds: [NALUnit.Kind] = []
    let addsUp = sample.withUnsafeBytes { bytes in
      NALUnit.forEach(of: bytes, lengthBytes: lengthBytes) { kinds.append($0.kind) }
    }
    return addsUp ? kinds : nil
  }

  @Test("a sample with very many NAL units is invalid")
  func manyUnits() {
    let sample = { (count: Int) in (0..<count).flatMap { _ in [1, 0x41] as [UInt8] } }
    #expect(Self.kinds(sample(4096), lengthBytes: 1)?.count == 4096)
    #expect(Self.kinds(sample(4097), lengthBytes: 1) == nil)
  }

  @Test("NAL units are found with length fields of any size, but only if the lengths add up")
  func units() {
    let units: [[UInt8]] = [[0x06, 5], [0x65, 1, 2], [0x41, 3]]
    for lengthBytes in [1, 2, 4] {
      let sample = units.flatMap { [UInt8](repeating: 0, count: lengthBytes - 1) + [UInt8($0.count)] + $0 }
      #expect(Self.kinds(sample, lengthBytes: lengthBytes) == [.sei, .idrSlice, .slice])
      #expect(Self.kinds(Array(sample.dropLast()), lengthBytes: lengthBytes) == nil)
      #expect(Self.kinds(sample + [0], lengthBytes: lengthBytes) == nil)
    }
    #expect(Self.kinds([], lengthBytes: 4) == nil)
    #expect(Self.kinds([0, 0, 0, 1, 0x65, 1, 2, 3], lengthBytes: 4) == nil, "start codes")
    #expect(Self.kinds([0, 0, 0, 0], lengthBytes: 4) == nil, "a unit without bytes")
    #expect(Self.kinds([0xFF, 0xFF, 0xFF, 0xFF, 0x65], lengthBytes: 4) == nil, "a length beyond the sample")
  }
}
