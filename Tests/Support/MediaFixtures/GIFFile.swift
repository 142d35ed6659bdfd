/// A GIF as a test wants it (GIF89a).
package struct GIFFile {
  /// An image on the canvas.
  package struct Image {
    package var left = 0
    package var top = 0
    package var width: Int
    package var height: Int
    /// The colour of each pixel by its place in the table, row by row.
    package var pixels: [UInt8]
    /// A table of its own, red, green and blue of each colour; empty: that of the file.
    package var colors: [UInt8] = []
    package var isInterlaced = false
    /// The place of the colour that is transparent.
    package var transparent: UInt8?
    /// In hundredths of a second.
    package var delay = 0
    /// What becomes of its area, 0 to 7: 2 makes it transparent, 3 what it was before.
    package var disposal: UInt8 = 0

    package init(width: Int, height: Int, _ pixel: (_ x: Int, _ y: Int) -> UInt8) {
      self.width = width
      self.height = height
      pixels = (0..<width * height).map { pixel($0 % width, $0 / width) }
    }
  }

  package var width: Int
  package var height: Int
  /// Red, green and blue of each colour: 2, 4, 8 and so on up to 256 of them, or none.
  package var colors: [UInt8]
  /// The place of the colour of the canvas.
  package var background: UInt8 = 0
  /// What is in front of the first image.
  package var extensions: [UInt8] = []
  package var images: [Image]

  package init(width: Int, height: Int, colors: [UInt8], images: [Image]) {
    self.width = width
    self.height = height
    self.colors = colors
    self.images = images
  }

  package var bytes: [UInt8] {
    var bytes =
      Array("GIF89a".utf8) + word(width) + word(height) + [flags(colors), background, 0] + colors + extensions
    for image in images {
      if image.transparent != nil || image.delay > 0 || image.disposal > 0 {
        bytes += [0x21, 0xF9, 4, image.disposal << 2 | (image.transparent == nil ? 0 : 1)] + word(image.delay)
        bytes += [image.transparent ?? 0, 0]
      }
      bytes += [0x2C] + word(image.left) + word(image.top) + word(image.width) + word(image.height)
      bytes.append(flags(image.colors) | (image.isInterlaced ? 0x40 : 0))
      bytes += image.colors
      let count = max(colors.count, image.colors.count) / 3
      bytes += codes(of: image, bits: max(2, count.trailingZeroBitCount))
    }
    return bytes + [0x3B]
  }

  /// An extension with a label, and text in blocks.
  package static func text(_ label: UInt8, _ text: String) -> [UInt8] { [0x21, label] + blocks(Array(text.utf8)) }

  private func flags(_ colors: [UInt8]) -> UInt8 {
    colors.isEmpty ? 0 : 0x80 | UInt8((colors.count / 3).trailingZeroBitCount - 1)
  }

  private func word(_ value: Int) -> [UInt8] { [UInt8(value & 255), UInt8(value >> 8 & 255)] }

  private static func blocks(_ content: [UInt8]) -> [UInt8] {
    stride(from: 0, to: content.count, by: 255).flatMap { start in
      let block = content[start..<min(start + 255, content.count)]
      return [UInt8(block.count)] + block
    } + [0]
  }

  /// The LZW codes of an image.
  private func codes(of image: Image, bits minBits: Int) -> [UInt8] {
    var rows = Array(0..<image.height)
    if image.isInterlaced {
      let passes = [(0, 8), (4, 8), (2, 4), (1, 2)]
      rows = passes.flatMap { start, step in Array(stride(from: start, to: image.height, by: step)) }
    }
    let clear = 1 << minBits
    var (content, buffer, count, width) = ([UInt8](), 0, 0, minBits + 1)
    func write(_ code: Int) {
      buffer |= code << count
      count += width
      while count >= 8 {
        content.append(UInt8(buffer & 255))
        (buffer, count) = (buffer >> 8, count - 8)
      }
    }
    write(clear)
    // The codes of strings, by the code of what is in front of their last pixel, and that pixel.
    var (table, next, prefix) = ([Int: Int](), clear + 2, Int?.none)
    for row in rows {
      for pixel in image.pixels[row * image.width..<(row + 1) * image.width] {
        guard let known = prefix else {
          prefix = Int(pixel)
          continue
        }
        if let longer = table[known << 8 | Int(pixel)] {
          prefix = longer
          continue
        }
        write(known)
        if next < 4096 {
          table[known << 8 | Int(pixel)] = next
          if next == 1 << width { width += 1 }
          next += 1
        } else {
          write(clear)
          (table, next, width) = ([:], clear + 2, minBits + 1)
        }
        prefix = Int(pixel)
      }
    }
    if let prefix { write(prefix) }
    write(clear + 1)
    if count > 0 { content.append(UInt8(buffer & 255)) }
    return [UInt8(minBits)] + Self.blocks(content)
  }
}
