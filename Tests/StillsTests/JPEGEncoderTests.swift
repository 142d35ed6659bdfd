import MediaFixtures
import Stills
import Testing

@Suite("JPEG encoder", .tags(.media))
struct JPEGEncoderTests {
  @Test(
    "a decoded image is similar to the encoded one", arguments: [(1, 1), (17, 9), (160, 284), (301, 203)],
    [true, false])
  func roundTrip(size: (Int, Int), isProgressive: Bool) throws {
    let image = RGBImage.gradient(width: size.0, height: size.1)
    for chroma in [JPEGEncoder.Chroma.halved, .full] {
      let bytes = try JPEGEncoder(quality: 90, chroma: chroma, isProgressive: isProgressive).encode(image)
      let decoded = try JPEGDecoder.decode(bytes, limits: JPEGLimits(pixels: 100_000))
      #expect(decoded.meanSquaredError(to: image) < 20)
    }
  }

  @Test("a higher quality gives more bytes and a smaller error")
  func quality() throws {
    let image = RGBImage.gradient(width: 200, height: 150)
    var sizes: [Int] = []
    var errors: [Double] = []
    for quality in [10, 50, 80, 98] {
      let bytes = try JPEGEncoder(quality: quality).encode(image)
      sizes.append(bytes.count)
      errors.append(try JPEGDecoder.decode(bytes, limits: JPEGLimits(pixels: 30_000)).meanSquaredError(to: image))
    }
    #expect(sizes == sizes.sorted())
    #expect(errors == errors.sorted(by: >))
  }

  @Test("a file has no metadata except a JFIF header")
  func metadata() throws {
    let bytes = try JPEGEncoder(quality: 80).encode(.gradient(width: 40, height: 30))
    let segments = JPEGSegments(bytes)
    // APP0, quantisation and Huffman tables, the progressive frame, scans: no other APPn, no comment.
    #expect(Set(segments.markers) == [0xE0, 0xDB, 0xC2, 0xC4, 0xDA])
    #expect(bytes[segments.payloads[0]..<segments.payloads[0] + 5] == [0x4A, 0x46, 0x49, 0x46, 0])
  }

  @Test("chroma is subsampled as specified")
  func chroma() throws {
    for (chroma, sampling) in [(JPEGEncoder.Chroma.halved, UInt8(0x22)), (.full, 0x11)] {
      let bytes = try JPEGEncoder(quality: 80, chroma: chroma).encode(.gradient(width: 40, height: 30))
      let segments = JPEGSegments(bytes)
      let frame = try #require(segments.markers.firstIndex(of: 0xC2))
      // The id and the sampling factors of the first component follow precision, height, width and number of
      // components.
      #expect(bytes[segments.payloads[frame] + 7] == sampling)
    }
  }

  @Test("the bytes do not depend on the stride")
  func strides() throws {
    let image = RGBImage.gradient(width: 33, height: 21)
    let encoder = JPEGEncoder(quality: 80)
    let stride = 3 * 33 + 29
    var padded = [UInt8](repeating: 7, count: stride * 21)
    for y in 0..<21 { padded.replaceSubrange(y * stride..<y * stride + 99, with: image.bytes[y * 99..<(y + 1) * 99]) }
    let bytes = try padded.withUnsafeBufferPointer { (rows) throws(JPEGError) in
      try encoder.encode(RGBView(base: rows.baseAddress!, stride: stride, width: 33, height: 21))
    }
    #expect(try bytes == encoder.encode(image))
  }

  @Test("the output grows beyond its initial capacity")
  func growth() throws {
    var state: UInt32 = 1
    let noise = PhotoFixture.image(width: 400, height: 300) { _, _ in
      state = state &* 1_664_525 &+ 1_013_904_223
      return (UInt8(state >> 24), UInt8(state >> 16 & 255), UInt8(state >> 8 & 255))
    }
    let bytes = try JPEGEncoder(quality: 100, chroma: .full).encode(noise)
    #expect(bytes.count > 128 * 1024)
    #expect(try JPEGDecoder.decode(bytes, limits: JPEGLimits(pixels: 120_000)).meanSquaredError(to: noise) < 4)
  }

  @Test("edges longer than the format allows are refused")
  func tooLarge() {
    let strip = RGBImage(width: 65_501, height: 1, bytes: [UInt8](repeating: 0, count: 3 * 65_501))
    #expect(throws: JPEGError.self) { try JPEGEncoder(quality: 80).encode(strip) }
  }
}
