import Kernels
import Model

/// The alpha channel of a photo of high dynamic range, two rows at a time, as the photo is mapped.
final class PhotoTransparency {
  private let plane: (base: UnsafeRawPointer, stride: Int)
  private let bits: Int
  private let size: Size
  private let isPremultiplied: Bool
  /// The 10-bit code of luma for black.
  private let black: Int
  /// From transparent, 0, to opaque, 255: of two rows, padded to an even width.
  private var levels: [Int]
  private let width: Int

  /// - Parameters:
  ///   - plane: the samples, bytes up to 8 bits, else words, with the stride in bytes.
  ///   - bits: of a sample, at most 16.
  ///   - isPremultiplied: whether the colours of the photo are multiplied by alpha already.
  ///   - isFullRange: whether black is 0.
  init(
    _ plane: (base: UnsafeRawPointer, stride: Int), bits: Int, size: Size, isPremultiplied: Bool, isFullRange: Bool
  ) {
    self.plane = plane
    self.bits = bits
    self.size = size
    self.isPremultiplied = isPremultiplied
    black = isFullRange ? 0 : 64
    width = (size.width + 1) / 2 * 2
    levels = Array(repeating: 255, count: 2 * width)
  }

  /// Reads the rows of a pair of rows. The padding to even sides repeats the last samples.
  func read(_ pair: Int) {
    let maximum = (1 << bits) - 1
    for row in 0..<2 {
      let line = plane.base + min(2 * pair + row, size.height - 1) * plane.stride
      for x in 0..<width {
        let at = min(x, size.width - 1)
        let sample =
          bits > 8
          ? Int(line.load(fromByteOffset: 2 * at, as: UInt16.self)) : Int(line.load(fromByteOffset: at, as: UInt8.self))
        levels[row * width + x] = (min(sample, maximum) * 255 + maximum / 2) / maximum
      }
    }
  }

  /// The mean of the four levels of a colour sample.
  private func mean(_ x: Int) -> Int {
    (levels[2 * x] + levels[2 * x + 1] + levels[width + 2 * x] + levels[width + 2 * x + 1] + 2) / 4
  }

  /// Divides 10-bit colours that are multiplied by alpha by it: the tone curve is for colours as they are.
  ///
  /// - Parameter luma: two rows, one after the other.
  func straighten(
    luma: UnsafeMutablePointer<UInt16>, u: UnsafeMutablePointer<UInt16>, v: UnsafeMutablePointer<UInt16>
  ) {
    guard isPremultiplied else { return }
    func divide(_ code: inout UInt16, by level: Int, around zero: Int) {
      guard level > 0 else { return }
      code = UInt16(min(max(zero + (Int(code) - zero) * 255 / level, 0), 1023))
    }
    for x in 0..<2 * width { divide(&luma[x], by: levels[x], around: black) }
    for x in 0..<width / 2 {
      divide(&u[x], by: mean(x), around: 512)
      divide(&v[x], by: mean(x), around: 512)
    }
  }

  /// Blends two mapped rows, YCbCr in full range, with white.
  func layOnWhite(_ mapped: MutableImagePlanes) {
    func blend(_ plane: MutablePlane, row: Int, white: Int, _ level: (Int) -> Int) {
      let line = (plane.base + row * plane.stride).assumingMemoryBound(to: UInt8.self)
      for x in 0..<plane.width {
        let share = level(x)
        line[x] = UInt8((Int(line[x]) * share + white * (255 - share) + 127) / 255)
      }
    }
    for row in 0..<2 { blend(mapped.y, row: row, white: 255) { levels[row * width + $0] } }
    for plane in [mapped.u, mapped.v] { blend(plane, row: 0, white: 128, mean) }
  }
}
