import Kernels

/// A small plane as an array, with padding after each row that a kernel must not change.
struct Pixels: Equatable {
  static let padding = 5
  static let untouched: UInt8 = 0xEE

  let width: Int
  let height: Int
  var bytes: [UInt8]

  private var stride: Int { width + Self.padding }

  init(width: Int, height: Int, _ value: (_ x: Int, _ y: Int) -> UInt8) {
    self.width = width
    self.height = height
    bytes = (0..<height).flatMap { y in
      (0..<width).map { x in value(x, y) } + [UInt8](repeating: Self.untouched, count: Self.padding)
    }
  }

  /// Returns pseudo-random bytes.
  static func noise(width: Int, height: Int, seed: UInt32) -> Pixels {
    Pixels(width: width, height: height) { x, y in
      var hash = (seed &+ UInt32(y &* width &+ x)) &* 0x9E37_79B9
      hash ^= hash >> 15
      return UInt8(truncatingIfNeeded: (hash &* 0x85EB_CA6B) >> 24)
    }
  }

  subscript(x: Int, y: Int) -> UInt8 {
    get { bytes[y * stride + x] }
    set { bytes[y * stride + x] = newValue }
  }

  func read<Result>(_ body: (Plane) -> Result) -> Result {
    bytes.withUnsafeBytes { body(Plane(base: $0.baseAddress!, stride: stride, width: width, height: height)) }
  }

  mutating func write(_ body: (MutablePlane) -> Void) {
    let (width, height, stride) = (width, height, stride)
    bytes.withUnsafeMutableBytes {
      body(MutablePlane(base: $0.baseAddress!, stride: stride, width: width, height: height))
    }
  }

  /// Returns the pixels transformed by the kernel.
  func transformed(by orientation: Orientation) -> Pixels {
    let size = orientation.size(width: width, height: height)
    var target = Pixels(width: size.width, height: size.height) { _, _ in 0 }
    read { source in target.write { $0.copy(from: source, orientation: orientation) } }
    return target
  }

  /// Returns the pixels transformed by the definition: mirrored, then rotated clockwise.
  func transformedByDefinition(by orientation: Orientation) -> Pixels {
    var result = self
    if orientation.isMirrored {
      result = Pixels(width: width, height: height) { x, y in self[width - 1 - x, y] }
    }
    for _ in 0..<orientation.quarterTurns {
      let before = result
      result = Pixels(width: before.height, height: before.width) { x, y in before[y, before.height - 1 - x] }
    }
    return result
  }
}

/// A plane with its own memory, filled by a function.
final class PlaneBuffer {
  let width: Int
  let height: Int
  private let memory: AlignedBuffer
  private let stride: Int

  init(width: Int, height: Int, _ value: (Int, Int) -> UInt8) {
    self.width = width
    self.height = height
    // Padded, so that an access beyond the end of a row does not reach the next one.
    stride = AlignedBuffer.aligned(width) + 64
    memory = AlignedBuffer(count: stride * height + 64)
    for y in 0..<height { for x in 0..<width { plane[x, y] = value(x, y) } }
  }

  var plane: MutablePlane { MutablePlane(base: memory.base, stride: stride, width: width, height: height) }
}
