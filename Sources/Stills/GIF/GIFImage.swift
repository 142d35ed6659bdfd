/// The first image of a GIF, alone in a GIF of its size (GIF89a, CompuServe 1990).
///
/// A decoder gets nothing else: no other image, no extension, and no canvas. Of a GIF with a million images only the first is read.
package struct GIFImage: Sendable {
  /// The width of the canvas in pixels.
  package let width: Int
  package let height: Int
  /// The distance of the image from the left edge of the canvas, which it may exceed on the right and at the bottom.
  package let left: Int
  package let top: Int
  package let imageWidth: Int
  package let imageHeight: Int
  /// Whether parts of the canvas are transparent: by a colour, or because the image does not cover them.
  package let hasAlpha: Bool
  /// Whether other images follow.
  package let isAnimated: Bool
  /// The kinds of text in front of the second image, which may say who made it, and where.
  package let texts: Set<Text>
  /// The image as a GIF of one image.
  package let bytes: [UInt8]

  /// A text that is not drawn.
  package enum Text: String, Sendable {
    case comment = "Comment"
    case xmp = "XMP"
  }

  /// Reads the blocks up to the second image, and checks the sizes against the limit on pixels and the codes against the size.
  package init(_ file: [UInt8], pixels: Int) throws(ImageError) {
    var walk = GIFWalk(file)
    let screen = try walk.screen()
    (width, height) = (screen.width, screen.height)
    try Self.check(width, height, pixels)
    var transparent: UInt8?
    var texts: Set<Text> = []
    while let found = try walk.nextExtension() {
      switch found {
      case .control(let index): transparent = index
      case .text(let text): texts.insert(text)
      case .other: break
      }
    }
    guard try walk.beginsImage() else { throw .malformed("it has no image") }
    let image = try walk.image()
    (left, top, imageWidth, imageHeight) = (image.left, image.top, image.width, image.height)
    try Self.check(imageWidth, imageHeight, pixels)
    guard left < width, top < height else { throw .malformed("the first image lies outside of the canvas") }
    let own = try walk.colors(image.flags)
    let colors = own.isEmpty ? screen.colors : own
    guard !colors.isEmpty else { throw .malformed("it has no table of colours") }
    let codes = try walk.codes()
    let count = try GIFCodes.pixels(in: file[codes.blocks], minBits: codes.minBits, atMost: imageWidth * imageHeight)
    guard count == imageWidth * imageHeight else { throw .truncated("the first image has \(count) pixels") }
    isAnimated = walk.hasOtherImage(&texts)
    self.texts = texts
    let coversAll = left == 0 && top == 0 && imageWidth >= width && imageHeight >= height
    hasAlpha = transparent != nil || !coversAll
    let size = Self.word(imageWidth) + Self.word(imageHeight)
    // Codes may have indices behind the table, whose colours a decoder may choose: black.
    let colorBits = max((colors.count / 3).trailingZeroBitCount, codes.minBits)
    var bytes = Array("GIF89a".utf8) + size + [0, 0, 0]
    if let transparent { bytes += [0x21, 0xF9, 4, 1, 0, 0, transparent, 0] }
    bytes += [0x2C, 0, 0, 0, 0] + size
    // A table of its own, and whether its rows are interlaced. The number of colours is two to the power of one more than the field.
    bytes.append(0x80 | (image.flags & 0x40) | UInt8(colorBits - 1))
    bytes += colors + [UInt8](repeating: 0, count: 3 << colorBits - colors.count)
    bytes.append(UInt8(codes.minBits))
    bytes += file[codes.blocks]
    bytes.append(0x3B)
    self.bytes = bytes
  }

  private static func check(_ width: Int, _ height: Int, _ pixels: Int) throws(ImageError) {
    guard width > 0, height > 0 else { throw .malformed("it has \(width)x\(height) pixels") }
    if width * height > pixels { throw .tooManyPixels(width: width, height: height) }
  }

  private static func word(_ value: Int) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8 & 255)] }
}
