import Kernels
import MemoryTesting
import Testing

/// Sizes below, at and above the sizes of vectors (8, 16, 32), of tiles (16) and of their strips (480), and odd ones.
private let sizes =
  [0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 18, 31, 32, 33, 48, 64, 66].flatMap { width in
    [0, 1, 2, 3, 4, 6, 17].map { (width, $0) }
  } + [(1, 65), (2, 64), (16, 34), (17, 497), (498, 18)]

@Suite("Bounds of kernels")
struct BoundsTests {
  @Test("a kernel accesses only its planes, whatever their sizes and strides are", arguments: Kernel.all)
  func bounds(kernel: Kernel) {
    for (width, height) in sizes {
      guard let expected = kernel.output(.roomy, width, height) else { continue }
      for layout in GuardedPlane.Layout.exact(height: height) {
        #expect(kernel.output(layout, width, height) == expected, "\(width)x\(height), \(layout)")
      }
    }
  }
}
