import CImages
import MemoryTesting
import Testing

@Suite("Bounds of the JPEG coder")
struct JPEGCoderBoundsTests {
  enum Chroma: CaseIterable {
    case full, halved
  }

  /// Sizes around blocks (8), MCUs (16) and strips of blocks (256).
  static let sizes =
    [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33].flatMap { width in [1, 2, 8, 9, 17].map { (width, $0) } } + [
      (255, 3), (256, 8), (257, 9), (513, 17), (65_500, 1), (1, 65_500),
    ]

  /// The planes of an image of noise, which has the longest codes.
  private static func planes(_ size: (Int, Int), _ chroma: Chroma, _ layout: GuardedPlane.Layout) -> [GuardedPlane] {
    (0..<3).map { index in
      let halves = index > 0 && chroma == .halved
      return GuardedPlane(
        width: halves ? (size.0 + 1) / 2 : size.0, height: halves ? (size.1 + 1) / 2 : size.1, layout: layout
      ) { x, y in
        UInt8(truncatingIfNeeded: ((x &* 0x9E37 ^ y &* 0x85EB ^ index &* 0xC2B3) &* 0x9E37_79B1) >> 13) > 127 ? 255 : 0
      }
    }
  }

  private static func image(_ planes: [GuardedPlane]) -> cjpegcoder_image {
    var image = cjpegcoder_image()
    (image.width, image.height) = (Int32(planes[0].width), Int32(planes[0].height))
    (image.plane.0, image.stride.0) = (UnsafePointer(planes[0].base), planes[0].stride)
    (image.chroma_width, image.chroma_height) = (Int32(planes[1].width), Int32(planes[1].height))
    (image.plane.1, image.stride.1) = (UnsafePointer(planes[1].base), planes[1].stride)
    (image.plane.2, image.stride.2) = (UnsafePointer(planes[2].base), planes[2].stride)
    return image
  }

  private static func encode(_ image: cjpegcoder_image, quality: Int32 = 100, portable: Bool) -> [UInt8]? {
    var (image, file) = (image, cjpegcoder_buffer())
    defer { cjpegcoder_free(&file) }
    guard cjpegcoder_encode(&image, quality, portable ? 1 : 0, &file) == CJPEGCODER_OK else { return nil }
    return [UInt8](UnsafeBufferPointer(start: file.bytes, count: file.count))
  }

  @Test(
    "the encoder accesses only its planes, whatever their sizes and strides are", arguments: Chroma.allCases,
    [false, true])
  func bounds(chroma: Chroma, portable: Bool) throws {
    for size in Self.sizes {
      let roomy = Self.planes(size, chroma, .roomy)
      let expected = try #require(
        withExtendedLifetime(roomy) { Self.encode(Self.image(roomy), portable: portable) })
      for layout in GuardedPlane.Layout.exact(height: size.1) {
        let planes = Self.planes(size, chroma, layout)
        let found = withExtendedLifetime(planes) { Self.encode(Self.image(planes), portable: portable) }
        #expect(found == expected, "\(size), \(layout)")
      }
    }
  }

  @Test("an image that it cannot have is refused", arguments: Chroma.allCases)
  func refusals(chroma: Chroma) {
    let planes = Self.planes((24, 16), chroma, .roomy)
    defer { withExtendedLifetime(planes) {} }
    let image = Self.image(planes)
    #expect(Self.encode(image, portable: false) != nil)
    func expectRefusal(_ what: String, _ change: (inout cjpegcoder_image) -> Void) {
      var changed = image
      change(&changed)
      #expect(Self.encode(changed, portable: false) == nil, "\(what)")
    }
    for side in [0, -1, 65_501, .max, .min] as [Int32] {
      expectRefusal("width \(side)") { $0.width = side }
      expectRefusal("height \(side)") { $0.height = side }
    }
    for stride in [0, 23, -23] { expectRefusal("stride \(stride)") { $0.stride.0 = stride } }
    expectRefusal("no plane") { $0.plane.0 = nil }
    for quality in [0, -1, 101, .max] as [Int32] {
      #expect(Self.encode(image, quality: quality, portable: false) == nil)
    }
    expectRefusal("no chroma") { $0.plane.2 = nil }
    expectRefusal("a chroma stride") { $0.stride.1 = 11 }
    expectRefusal("no size") { ($0.chroma_width, $0.stride.1) = (.min, .min) }
    for side in [0, -12, 11, 13, 25, .max, .min] as [Int32] {
      expectRefusal("chroma width \(side)") { $0.chroma_width = side }
      expectRefusal("chroma height \(side)") { $0.chroma_height = side }
    }
  }
}
