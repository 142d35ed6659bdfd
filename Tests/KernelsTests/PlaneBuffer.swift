import Kernels

/// A plane with memory of its own, drawn by a formula.
final class PlaneBuffer {
  let width: Int
  let height: Int
  private let memory: AlignedBuffer
  private let stride: Int

  init(width: Int, height: Int, _ value: (Int, Int) -> UInt8) {
    self.width = width
    self.height = height
    // A row's end is nowhere near the next one's beginning.
    stride = AlignedBuffer.aligned(width) + 64
    memory = AlignedBuffer(count: stride * height + 64)
    for y in 0..<height { for x in 0..<width { plane[x, y] = value(x, y) } }
  }

  var plane: MutablePlane { MutablePlane(base: memory.base, stride: stride, width: width, height: height) }
}
