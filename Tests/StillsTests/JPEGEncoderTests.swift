import CJPEGReference
import Kernels
import MediaFixtures
import Stills
import Testing

@Suite("JPEG encoder", .tags(.media))
struct JPEGEncoderTests {
  enum Content: CaseIterable {
    case noise, extremes, flat, gradient, sparse
  }

  static let sizes = [(1, 1), (7, 9), (8, 8), (16, 16), (17, 33), (31, 15), (200, 120), (333, 77)]

  private static func image(_ content: Content, _ width: Int, _ height: Int, halves: Bool) -> PlanarImage {
    let image = PlanarImage(width: width, height: height, halvesChroma: halves)
    var state: UInt64 = 99
    for index in 0..<3 {
      let plane = image.plane(index)
      for y in 0..<plane.height {
        for x in 0..<plane.width {
          state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
          let random = UInt8(truncatingIfNeeded: state >> 40)
          plane[x, y] =
            switch content {
            case .noise: random
            case .extremes: random > 127 ? 255 : 0
            case .flat: index == 0 ? 200 : 90
            case .gradient: UInt8((x * 3 + y * 2 + index * 50) / 4 % 256)
            case .sparse: random == 0 ? 255 : 128
            }
        }
      }
    }
    return image
  }

  @Test("coefficients equal libjpeg's, with and without vector instructions", arguments: [1, 30, 80, 95, 100])
  func coefficients(quality: Int) throws {
    for (width, height) in Self.sizes {
      for content in Content.allCases {
        for halves in [true, false] {
          let image = Self.image(content, width, height, halves: halves)
          let file = try JPEGEncoder(quality: quality).encode(image)
          #expect(try JPEGEncoder(quality: quality).encode(image, portable: true) == file)
          let reference = Self.libjpeg(image, quality: quality)
          #expect(
            cjpegreference_agree(file, file.count, reference, reference.count) != 0,
            "\(content), \(width)x\(height), \(halves)")
          let decoded = try JPEGDecoder.decode(file, limits: JPEGLimits(pixels: 1 << 20))
          #expect(decoded.width == width && decoded.height == height)
        }
      }
    }
  }

  @Test("a file is progressive and has no metadata except a JFIF header")
  func metadata() throws {
    let bytes = try JPEGEncoder(quality: 80).encode(Self.image(.gradient, 40, 30, halves: true))
    let segments = JPEGSegments(bytes)
    // APP0, quantisation and Huffman tables, the progressive frame, scans: no other APPn, no comment.
    #expect(Set(segments.markers) == [0xE0, 0xDB, 0xC2, 0xC4, 0xDA])
    #expect(bytes[segments.payloads[0]..<segments.payloads[0] + 5] == [0x4A, 0x46, 0x49, 0x46, 0])
  }

  @Test("edges longer than the format allows are refused")
  func tooLarge() throws {
    let image = PlanarImage(width: 65_501, height: 1, halvesChroma: true)
    #expect(throws: JPEGError.self) { try JPEGEncoder(quality: 80).encode(image) }
  }

  private static func libjpeg(_ image: PlanarImage, quality: Int) -> [UInt8] {
    func plane(_ index: Int) -> UnsafePointer<UInt8> {
      UnsafePointer(image.plane(index).base.assumingMemoryBound(to: UInt8.self))
    }
    // A single pixel has one chroma sample in either layout.
    var planes = cjpegreference_image(
      planes: (plane(0), plane(1), plane(2)),
      strides: (image.plane(0).stride, image.plane(1).stride, image.plane(2).stride),
      width: Int32(image.width), height: Int32(image.height), chroma_width: Int32(image.chromaSize.width),
      chroma_height: Int32(image.chromaSize.height))
    var bytes: UnsafeMutablePointer<UInt8>?
    var count = 0
    guard cjpegreference_encode_planes(&planes, Int32(quality), &bytes, &count) == 0 else { return [] }
    defer { bytes?.deallocate() }
    return [UInt8](UnsafeBufferPointer(start: bytes, count: count))
  }
}
