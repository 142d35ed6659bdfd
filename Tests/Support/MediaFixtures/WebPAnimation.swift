internal import CWebPReference
internal import Glibc

/// An animated WebP as libwebp's own decoder shows it.
package struct WebPAnimation {
  package let width: Int
  package let height: Int
  /// How often it is shown; 0: without end.
  package let loops: Int
  /// The end of each frame, in milliseconds from the start.
  package let ends: [Int]
  /// 32-bit RGBA without padding, frame by frame.
  private let pixels: [UInt8]

  /// Decodes a file; nil if libwebp refuses it.
  package init?(_ bytes: [UInt8]) {
    var animation = cwebpreference_animation()
    guard cwebpreference_decode(bytes, bytes.count, &animation) == 0 else { return nil }
    defer { free(animation.pixels) }
    (width, height, loops) = (Int(animation.width), Int(animation.height), Int(animation.loops))
    let count = Int(animation.count)
    ends = withUnsafeBytes(of: animation.ends) { $0.bindMemory(to: Int32.self).prefix(count).map { Int($0) } }
    pixels = Array(UnsafeBufferPointer(start: animation.pixels, count: 4 * width * height * count))
  }

  /// The pixel that is shown at a time in milliseconds: red, green, blue and alpha.
  package func pixel(_ x: Int, _ y: Int, at time: Int) -> SIMD4<Int> {
    let frame = ends.firstIndex { time < $0 } ?? ends.count - 1
    let offset = 4 * ((frame * height + y) * width + x)
    return SIMD4(
      Int(pixels[offset]), Int(pixels[offset + 1]), Int(pixels[offset + 2]), Int(pixels[offset + 3]))
  }
}
