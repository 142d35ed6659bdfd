/// One image of a GIF, alone in a GIF of its size: a decoder gets no other image, no extension of another one, and no canvas.
package struct GIFPicture: Sendable {
  package let control: GIFControl
  /// The distance of the image from the left edge of the canvas, which it may exceed on the right and at the bottom.
  package let left: Int
  package let top: Int
  package let width: Int
  package let height: Int
  /// The image as a GIF of one image.
  package let bytes: [UInt8]

  /// Reads the next image, and checks its size against the limit on pixels and its codes against its size.
  ///
  /// - Parameter colors: the table of the canvas, which an image without a table of its own has.
  init(_ walk: inout GIFWalk, _ control: GIFControl, colors: ArraySlice<UInt8>, pixels: Int) throws(ImageError) {
    let image = try walk.image()
    (left, top, width, height) = (image.left, image.top, image.width, image.height)
    self.control = control
    try Self.check(width, height, pixels)
    let own = try walk.colors(image.flags)
    let colors = own.isEmpty ? colors : own
    guard !colors.isEmpty else { throw .malformed("it has no table of colours") }
    let codes = try walk.codes()
    let count = try GIFCodes.pixels(in: codes.blocks, minBits: codes.minBits, atMost: width * height)
    guard count == width * height else { throw .truncated("an image has \(count) pixels") }
    let size = Self.word(width) + Self.word(height)
    // Codes may have indices behind the table, whose colours a decoder may choose: black.
    let colorBits = max((colors.count / 3).trailingZeroBitCount, codes.minBits)
    var bytes = Array("GIF89a".utf8) + size + [0, 0, 0]
    if let transparent = control.transparent { bytes += [0x21, 0xF9, 4, 1, 0, 0, transparent, 0] }
    bytes += [0x2C, 0, 0, 0, 0] + size
    // A table of its own, and whether its rows are interlaced. The number of colours is two to the power of one more than the field.
    bytes.append(0x80 | (image.flags & 0x40) | UInt8(colorBits - 1))
    bytes += colors + [UInt8](repeating: 0, count: 3 << colorBits - colors.count)
    bytes.append(UInt8(codes.minBits))
    bytes += codes.blocks
    bytes.append(0x3B)
    self.bytes = bytes
  }

  /// Checks the size of an image or of a canvas.
  static func check(_ width: Int, _ height: Int, _ pixels: Int) throws(ImageError) {
    guard width > 0, height > 0 else { throw .malformed("it has \(width)x\(height) pixels") }
    if width * height > pixels { throw .tooManyPixels(width: width, height: height) }
  }

  private static func word(_ value: Int) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8 & 255)] }
}

/// The images of a GIF, from the first one on.
package struct GIFPictures: Sendable {
  /// The width of the canvas in pixels.
  package let width: Int
  package let height: Int
  private let colors: ArraySlice<UInt8>
  private var walk: GIFWalk

  /// Reads the header of the canvas, and checks its size against the limit on pixels.
  package init(_ file: [UInt8], pixels: Int) throws(ImageError) {
    walk = GIFWalk(file)
    let screen = try walk.screen()
    (width, height, colors) = (screen.width, screen.height, screen.colors)
    try GIFPicture.check(width, height, pixels)
  }

  /// Reads the next image, of at most so many pixels; nil behind the last one.
  package mutating func next(pixels: Int) throws(ImageError) -> GIFPicture? {
    var control = GIFControl()
    while let found = try walk.nextExtension() { if case .control(let next) = found { control = next } }
    guard try walk.beginsImage() else { return nil }
    return try GIFPicture(&walk, control, colors: colors, pixels: pixels)
  }
}
