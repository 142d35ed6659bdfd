import Stills
import Testing

@Suite(.tags(.media)) struct JPEGDecoderTests {
  private let limits = JPEGLimits(pixels: 1_000_000)

  private func sample(progressive: Bool = true) throws -> [UInt8] {
    try JPEGEncoder(quality: 85, isProgressive: progressive).encode(.gradient(width: 120, height: 90))
  }

  /// What decoding fails with, nil if it does not.
  private func failure(_ bytes: [UInt8], _ limits: JPEGLimits? = nil) -> JPEGError? {
    do throws(JPEGError) {
      _ = try JPEGDecoder.decode(bytes, limits: limits ?? self.limits)
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [true, false])
  func headerIsReadBeforePixels(progressive: Bool) throws {
    let decoder = try JPEGDecoder(sample(progressive: progressive), limits: limits)
    #expect(decoder.header.width == 120 && decoder.header.height == 90)
    #expect(decoder.header.components == 3)
    #expect(decoder.header.isProgressive == progressive)
  }

  @Test(arguments: [1, 7, 16, 90])
  func bandsEqualTheWhole(rows: Int) throws {
    let bytes = try sample()
    let whole = try JPEGDecoder.decode(bytes, limits: limits)
    var decoder = try JPEGDecoder(bytes, limits: limits)
    var pixels: [UInt8] = []
    while decoder.remainingRows > 0 {
      let count = min(rows, decoder.remainingRows)
      var band = [UInt8](repeating: 0, count: count * 360)
      try band.withUnsafeMutableBufferPointer { (band) throws(JPEGError) in
        try decoder.read(into: band, stride: 360, rowCount: count)
      }
      pixels += band
    }
    #expect(pixels == whole.bytes)
  }

  @Test(arguments: [true, false])
  func everyTruncationIsAnError(progressive: Bool) throws {
    let bytes = try sample(progressive: progressive)
    for count in stride(from: 0, to: bytes.count - 2, by: 13) {
      #expect(failure(Array(bytes[..<count])) != nil, "cut to \(count) of \(bytes.count) bytes")
    }
    guard case .truncated = failure(Array(bytes[..<(bytes.count / 2)])) else {
      Issue.record("a JPEG cut in the middle is not called truncated")
      return
    }
  }

  @Test func bytesAfterTheEndAreLeftAlone() throws {
    let bytes = try sample()
    #expect(try JPEGDecoder.decode(bytes + [0xFF, 0xD8, 1, 2, 3], limits: limits).width == 120)
  }

  @Test func pixelsAreLimitedByTheHeader() throws {
    var bytes = try sample()
    let segments = JPEGSegments(bytes)
    let frame = try segments.payloads[#require(segments.markers.firstIndex(of: 0xC2))]
    bytes.replaceSubrange(frame + 1..<frame + 5, with: [0xFD, 0xE8, 0xFD, 0xE8])  // 65000 x 65000
    guard case .tooManyPixels = failure(bytes) else {
      Issue.record("65000 x 65000 pixels were not refused")
      return
    }
  }

  @Test func severalScansHaveALimitOfTheirOwn() throws {
    let limits = JPEGLimits(pixels: 120 * 90, bufferedPixels: 120 * 90 - 1)
    #expect(failure(try sample(progressive: false), limits) == nil)
    guard case .tooManyPixels = failure(try sample(progressive: true), limits) else {
      Issue.record("a progressive picture above its limit was not refused")
      return
    }
  }

  @Test func repeatedScansAreRefused() throws {
    let bytes = try sample()
    let scans = JPEGSegments(bytes).markers.count { $0 == 0xDA }
    #expect(scans > 5)
    #expect(failure(bytes, JPEGLimits(pixels: 1_000_000, scans: scans)) == nil)
    guard case .tooManyScans = failure(bytes, JPEGLimits(pixels: 1_000_000, scans: scans - 1)) else {
      Issue.record("one scan more than the limit was not refused")
      return
    }
  }

  @Test func twelveBitsAreUnsupported() throws {
    var bytes = try JPEGEncoder(quality: 85, isProgressive: false).encode(.gradient(width: 16, height: 16))
    let segments = JPEGSegments(bytes)
    let frame = try segments.payloads[#require(segments.markers.firstIndex { $0 == 0xC0 || $0 == 0xC1 })]
    bytes[frame - 3] = 0xC1
    bytes[frame] = 12
    guard case .unsupported = failure(bytes) else {
      Issue.record("12 bits were not called unsupported")
      return
    }
  }

  @Test func whatIsNoJPEGIsMalformed() {
    for bytes in [Array("GIF89a, or so it says".utf8), [0xFF, 0xD8, 0xFF, 0x00, 0x01, 0x02]] {
      guard let error = failure(bytes) else {
        Issue.record("decoded what is no JPEG")
        continue
      }
      #expect(!error.description.isEmpty)
    }
    guard case .malformed = failure(Array("GIF89a, or so it says".utf8)) else {
      Issue.record("a GIF is not called malformed")
      return
    }
  }

  @Test func damagedBytesNeverCrash() throws {
    let sound = try sample()
    var state: UInt32 = 7
    for _ in 0..<300 {
      var bytes = sound
      for _ in 0..<3 {
        state = state &* 1_664_525 &+ 1_013_904_223
        bytes[Int(state >> 8) % bytes.count] = UInt8(truncatingIfNeeded: state)
      }
      _ = failure(bytes)
    }
  }

  @Test func greyBecomesThreeEqualComponents() throws {
    let grey = try JPEGDecoder.decode(Self.greyJPEG, limits: limits)
    #expect(grey.width == 8 && grey.height == 8)
    for pixel in stride(from: 0, to: grey.bytes.count, by: 3) {
      #expect(grey.bytes[pixel] == grey.bytes[pixel + 1] && grey.bytes[pixel] == grey.bytes[pixel + 2])
    }
  }

  /// One flat grey block: tables with a single code, a DC difference of zero, and the end of the block.
  private static let greyJPEG: [UInt8] =
    [0xFF, 0xD8, 0xFF, 0xDB, 0, 67, 0] + [UInt8](repeating: 1, count: 64)
    + [0xFF, 0xC0, 0, 11, 8, 0, 8, 0, 8, 1, 1, 0x11, 0]
    + [0xFF, 0xC4, 0, 20, 0x00, 1] + [UInt8](repeating: 0, count: 15) + [0]
    + [0xFF, 0xC4, 0, 20, 0x10, 1] + [UInt8](repeating: 0, count: 15) + [0]
    + [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0, 0b0011_1111, 0xFF, 0xD9]
}
