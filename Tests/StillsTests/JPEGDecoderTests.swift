import MediaFixtures
import Platform
import Stills
import Testing

@Suite("JPEG decoder", .tags(.media))
struct JPEGDecoderTests {
  private let limits = JPEGLimits(pixels: 1_000_000)

  private func sample(progressive: Bool = true) throws -> [UInt8] {
    try PhotoFixture.libjpeg(.gradient(width: 120, height: 90), quality: 85, isProgressive: progressive)
  }

  /// Returns the error of decoding; nil if it succeeds.
  private func failure(_ bytes: [UInt8], _ limits: JPEGLimits? = nil) throws -> JPEGError? {
    do {
      _ = try JPEGDecoder.decode(bytes, limits: limits ?? self.limits)
      return nil
    } catch let error as JPEGError {
      return error
    }
  }

  @Test("reads the header before the pixels", arguments: [true, false])
  func header(progressive: Bool) throws {
    let file = try TemporaryFile.make(sample(progressive: progressive))
    let decoder = try JPEGDecoder(reading: file.descriptor.number, limits: limits)
    let header = decoder.header
    #expect(header.width == 120 && header.height == 90)
    #expect(header.components == 3)
    withExtendedLifetime(file) {}
  }

  @Test("bands of any height give the same pixels", arguments: [1, 7, 16, 90])
  func bands(rows: Int) throws {
    let bytes = try sample()
    let image = try JPEGDecoder.decode(bytes, limits: limits)
    let file = try TemporaryFile.make(bytes)
    var decoder = try JPEGDecoder(reading: file.descriptor.number, limits: limits)
    var pixels: [UInt8] = []
    while decoder.remainingRows > 0 {
      let count = min(rows, decoder.remainingRows)
      var band = [UInt8](repeating: 0, count: count * 360)
      try band.withUnsafeMutableBufferPointer { (band) throws(JPEGError) in
        try decoder.read(into: band, stride: 360, rowCount: count)
      }
      pixels += band
    }
    #expect(pixels == image.bytes)
    withExtendedLifetime(file) {}
  }

  @Test("every truncation is an error", arguments: [true, false])
  func truncation(progressive: Bool) throws {
    let bytes = try sample(progressive: progressive)
    for count in stride(from: 0, to: bytes.count - 2, by: 13) {
      #expect(try failure(Array(bytes[..<count])) != nil, "truncated to \(count) of \(bytes.count) bytes")
    }
    guard case .truncated = try failure(Array(bytes[..<(bytes.count / 2)])) else {
      Issue.record("a JPEG truncated in the middle gives another error")
      return
    }
  }

  /// What no pixel depends on: bytes between the segments of the header, and whatever follows the last block.
  @Test(
    "bytes between the segments of the header, a missing end and a trailer without an end change no pixel",
    arguments: [true, false])
  func unusual(progressive: Bool) throws {
    let bytes = try sample(progressive: progressive)
    let pixels = try JPEGDecoder.decode(bytes, limits: limits).bytes
    let segments = JPEGSegments(bytes)
    for (payload, marker) in zip(segments.payloads, segments.markers).prefix(5) {
      // In front of the marker and its length.
      var padded = bytes
      padded.insert(contentsOf: [0, 0xE1, 1, 0x94] + [UInt8](repeating: 7, count: 400), at: payload - 4)
      #expect(try JPEGDecoder.decode(padded, limits: limits).bytes == pixels, "in front of \(marker)")
    }
    let open = Array(bytes.dropLast(2))
    #expect(try JPEGDecoder.decode(open, limits: limits).bytes == pixels)
    let trailer = [UInt8](repeating: 5, count: 573)
    #expect(try JPEGDecoder.decode(open + trailer, limits: limits).bytes == pixels)
    // A trailer with markers: an application's, and those of another image.
    #expect(
      try JPEGDecoder.decode(open + trailer + [0xFF, 0xE1, 0, 4, 1, 2] + trailer, limits: limits).bytes == pixels)
    let restarts = (0..<4).flatMap { (number: UInt8) in [UInt8](repeating: 9, count: 100) + [0xFF, 0xD0 + number] }
    #expect(try JPEGDecoder.decode(open + restarts + bytes.suffix(2), limits: limits).bytes == pixels)
    if !progressive { #expect(try JPEGDecoder.decode(open + trailer + bytes, limits: limits).bytes == pixels) }
    // So many bytes in front of the end are blocks that were not read.
    guard case .malformed = try failure(open + trailer + bytes.suffix(2)) else {
      Issue.record("bytes of the scan in front of its end were not refused")
      return
    }
  }

  @Test("the same bytes inside a scan are damage")
  func damagedScan() throws {
    let bytes = try sample(progressive: false)
    let segments = JPEGSegments(bytes)
    let scan = try segments.payloads[#require(segments.markers.firstIndex(of: 0xDA))]
    for offset in stride(from: scan + 40, to: bytes.count - 40, by: 97) {
      var damaged = bytes
      damaged.insert(contentsOf: [0, 0, 0, 0xFF, 0xD3], at: offset)
      #expect(try failure(damaged) != nil, "at \(offset)")
    }
  }

  @Test("bytes after the end are ignored")
  func trailingBytes() throws {
    let bytes = try sample()
    #expect(try JPEGDecoder.decode(bytes + [0xFF, 0xD8, 1, 2, 3], limits: limits).width == 120)
  }

  @Test("the limit on pixels applies to the header")
  func pixels() throws {
    var bytes = try sample()
    let segments = JPEGSegments(bytes)
    let frame = try segments.payloads[#require(segments.markers.firstIndex(of: 0xC2))]
    bytes.replaceSubrange(frame + 1..<frame + 5, with: [0xFD, 0xE8, 0xFD, 0xE8])  // 65000 x 65000
    guard case .tooManyPixels(65000, 65000) = try failure(bytes) else {
      Issue.record("65000 x 65000 pixels were not refused")
      return
    }
  }

  @Test("images in several scans have a limit of their own")
  func bufferedPixels() throws {
    let limits = JPEGLimits(pixels: 120 * 90, bufferedPixels: 120 * 90 - 1)
    #expect(try failure(sample(progressive: false), limits) == nil)
    guard case .tooManyBufferedPixels(120, 90) = try failure(sample(progressive: true), limits) else {
      Issue.record("a progressive image above its limit was not refused")
      return
    }
  }

  @Test("more scans than the limit are refused")
  func scans() throws {
    let bytes = try sample()
    let scans = JPEGSegments(bytes).markers.count { $0 == 0xDA }
    #expect(scans > 5)
    #expect(try failure(bytes, JPEGLimits(pixels: 1_000_000, scans: scans)) == nil)
    guard case .tooManyScans = try failure(bytes, JPEGLimits(pixels: 1_000_000, scans: scans - 1)) else {
      Issue.record("one scan more than the limit was not refused")
      return
    }
  }

  /// Replaces the spectral selection and the approximation (Ss, Se, Ah and Al) in the header of the first scan.
  private func replaceParameters(_ bytes: inout [UInt8], with parameters: [UInt8]) throws {
    let segments = JPEGSegments(bytes)
    let scan = try segments.payloads[#require(segments.markers.firstIndex(of: 0xDA))]
    let offset = scan + 1 + 2 * Int(bytes[scan])
    bytes.replaceSubrange(offset..<offset + 3, with: parameters)
  }

  @Test(
    "a sequential scan is read whatever its spectral selection and approximation are",
    arguments: [[0, 0, 0], [0, 0, 0x10], [5, 10, 0x21], [63, 63, 0xFF]] as [[UInt8]])
  func sequentialParameters(_ parameters: [UInt8]) throws {
    var bytes = try sample(progressive: false)
    let image = try JPEGDecoder.decode(bytes, limits: limits)
    try replaceParameters(&bytes, with: parameters)
    #expect(try JPEGDecoder.decode(bytes, limits: limits).bytes == image.bytes)
  }

  @Test("a progressive scan that refines before a first scan is damaged")
  func progressiveParameters() throws {
    var bytes = try sample(progressive: true)
    try replaceParameters(&bytes, with: [0, 0, 0x10])
    guard case .malformed(let message) = try failure(bytes) else {
      Issue.record("a wrong progression gives another error")
      return
    }
    #expect(message.contains("progression"))
  }

  @Test("12-bit samples are unsupported")
  func twelveBits() throws {
    var bytes = try PhotoFixture.libjpeg(.gradient(width: 16, height: 16), quality: 85)
    let segments = JPEGSegments(bytes)
    let frame = try segments.payloads[#require(segments.markers.firstIndex { $0 == 0xC0 || $0 == 0xC1 })]
    bytes[frame - 3] = 0xC1
    bytes[frame] = 12
    guard case .unsupported = try failure(bytes) else {
      Issue.record("12-bit samples give another error")
      return
    }
  }

  @Test("other data are malformed")
  func otherData() throws {
    for bytes in [Array("GIF89a, or so it says".utf8), [0xFF, 0xD8, 0xFF, 0x00, 0x01, 0x02]] {
      guard let error = try failure(bytes) else {
        Issue.record("data that are not a JPEG were decoded")
        continue
      }
      #expect(!error.description.isEmpty)
    }
    guard case .malformed = try failure(Array("GIF89a, or so it says".utf8)) else {
      Issue.record("a GIF gives another error")
      return
    }
  }

  @Test("damaged data do not crash the decoder")
  func damage() throws {
    let valid = try sample()
    var state: UInt32 = 7
    for _ in 0..<300 {
      var bytes = valid
      for _ in 0..<3 {
        state = state &* 1_664_525 &+ 1_013_904_223
        bytes[Int(state >> 8) % bytes.count] = UInt8(truncatingIfNeeded: state)
      }
      _ = try failure(bytes)
    }
  }

  @Test("a grey image gives three equal components")
  func grey() throws {
    let grey = try JPEGDecoder.decode(Self.greyJPEG, limits: limits)
    #expect(grey.width == 8 && grey.height == 8)
    for pixel in stride(from: 0, to: grey.bytes.count, by: 3) {
      #expect(grey.bytes[pixel] == grey.bytes[pixel + 1] && grey.bytes[pixel] == grey.bytes[pixel + 2])
    }
  }

  /// A grey image of one flat block: tables with a single code, a DC difference of zero, and the end of the block.
  private static let greyJPEG: [UInt8] =
    [0xFF, 0xD8, 0xFF, 0xDB, 0, 67, 0] + [UInt8](repeating: 1, count: 64)
    + [0xFF, 0xC0, 0, 11, 8, 0, 8, 0, 8, 1, 1, 0x11, 0]
    + [0xFF, 0xC4, 0, 20, 0x00, 1] + [UInt8](repeating: 0, count: 15) + [0]
    + [0xFF, 0xC4, 0, 20, 0x10, 1] + [UInt8](repeating: 0, count: 15) + [0]
    + [0xFF, 0xDA, 0, 8, 1, 1, 0, 0, 63, 0, 0b0011_1111, 0xFF, 0xD9]
}
