/// A GIF (GIF89a, CompuServe 1990) as its first image. Of one with a million images only the first is read.
package struct GIFImage: Sendable {
  /// The width of the canvas in pixels.
  package let width: Int
  package let height: Int
  /// The first image.
  package let picture: GIFPicture
  /// Whether parts of the canvas are transparent: by a colour, or because the image does not cover them.
  package let hasAlpha: Bool
  /// Whether other images follow.
  package let isAnimated: Bool
  /// The kinds of text in front of the second image, which may say who made it, and where.
  package let texts: Set<Text>

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
    try GIFPicture.check(width, height, pixels)
    var control = GIFControl()
    var texts: Set<Text> = []
    while let found = try walk.nextExtension() {
      switch found {
      case .control(let next): control = next
      case .text(let text): texts.insert(text)
      case .other: break
      }
    }
    guard try walk.beginsImage() else { throw .malformed("it has no image") }
    picture = try GIFPicture(&walk, control, colors: screen.colors, pixels: pixels)
    guard picture.left < width, picture.top < height else {
      throw .malformed("the first image lies outside of the canvas")
    }
    isAnimated = walk.hasOtherImage(&texts)
    self.texts = texts
    let coversAll = picture.left == 0 && picture.top == 0 && picture.width >= width && picture.height >= height
    hasAlpha = control.transparent != nil || !coversAll
  }
}
