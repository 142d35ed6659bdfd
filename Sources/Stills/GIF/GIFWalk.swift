/// The blocks of a GIF, from its start on.
struct GIFWalk {
  /// The header of a canvas, with the table of colours that images without one use; empty if there is none.
  typealias Screen = (width: Int, height: Int, colors: ArraySlice<UInt8>)
  /// The header of an image.
  typealias Image = (left: Int, top: Int, width: Int, height: Int, flags: UInt8)
  /// The codes of an image: blocks with their lengths, up to an empty one.
  typealias Codes = (minBits: Int, blocks: ArraySlice<UInt8>)

  /// An extension between images.
  enum Extension {
    /// The control of the next image.
    case control(GIFControl)
    case text(GIFImage.Text)
    case other
  }

  private static let introducer: UInt8 = 0x21
  private static let separator: UInt8 = 0x2C
  private static let xmp = Array("XMP DataXMP".utf8)

  private let file: [UInt8]
  private var offset = 0

  init(_ file: [UInt8]) { self.file = file }

  mutating func screen() throws(ImageError) -> Screen {
    let start = try take(13)
    guard start.starts(with: "GIF87a".utf8) || start.starts(with: "GIF89a".utf8) else {
      throw .malformed("it does not begin as a GIF")
    }
    let size = (width: word(6), height: word(8))
    return (size.width, size.height, try colors(file[10]))
  }

  /// Passes over the next extension; nil if another block follows.
  mutating func nextExtension() throws(ImageError) -> Extension? {
    guard offset < file.count, file[offset] == Self.introducer else { return nil }
    let label = try take(2).last
    let blocks = try blocks()
    let first = file[blocks.lowerBound + 1..<blocks.lowerBound + 1 + Int(file[blocks.lowerBound])]
    switch label {
    case 0xF9 where first.count >= 4: return .control(GIFControl(first))
    case 0xFE: return .text(.comment)
    case 0xFF where first.starts(with: Self.xmp): return .text(.xmp)
    default: return .other
    }
  }

  /// Whether an image follows.
  func beginsImage() throws(ImageError) -> Bool {
    guard offset < file.count else { throw .truncated("it ends in front of its first image") }
    return file[offset] == Self.separator
  }

  mutating func image() throws(ImageError) -> Image {
    let start = offset + 1
    let flags = try take(10).last ?? 0
    return (word(start), word(start + 2), word(start + 4), word(start + 6), flags)
  }

  mutating func codes() throws(ImageError) -> Codes {
    let minBits = Int(try take(1).last ?? 0)
    guard 2...8 ~= minBits else { throw .malformed("its codes have \(minBits) bits") }
    let blocks = try blocks()
    return (minBits, file[blocks])
  }

  /// Whether another image begins behind the first one. The rest of the file does not matter.
  mutating func hasOtherImage(_ texts: inout Set<GIFImage.Text>) -> Bool {
    do throws(ImageError) {
      while let found = try nextExtension() {
        if case .text(let text) = found { texts.insert(text) }
      }
      return try beginsImage()
    } catch {
      return false
    }
  }

  /// The table of colours that the flags of a header announce; empty if it announces none.
  mutating func colors(_ flags: UInt8) throws(ImageError) -> ArraySlice<UInt8> {
    flags & 0x80 == 0 ? [] : try take(3 << (Int(flags & 7) + 1))
  }

  /// Passes over blocks up to an empty one; returns their range.
  private mutating func blocks() throws(ImageError) -> Range<Int> {
    let start = offset
    while let length = try take(1).last, length > 0 { _ = try take(Int(length)) }
    return start..<offset
  }

  private mutating func take(_ count: Int) throws(ImageError) -> ArraySlice<UInt8> {
    guard count <= file.count - offset else { throw .truncated("it ends at byte \(file.count)") }
    defer { offset += count }
    return file[offset..<offset + count]
  }

  /// The number of two bytes that were taken.
  private func word(_ offset: Int) -> Int { Int(file[offset]) | Int(file[offset + 1]) << 8 }
}
