import CKernels
import MemoryTesting
import Testing

@testable import Kernels

/// A kernel on planes of exactly the size that it may access.
struct Kernel: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// Runs the kernel for a target of some size and returns what it wrote, or nil for a size that it does not take.
  let run: @Sendable (_ planes: Planes, _ width: Int, _ height: Int) -> [GuardedPlane]?

  init(_ name: String, _ run: @escaping @Sendable (Planes, Int, Int) -> [GuardedPlane]?) {
    testDescription = name
    self.run = run
  }

  /// Creates the planes of one call and keeps them.
  final class Planes {
    private let layout: GuardedPlane.Layout
    private var kept: [GuardedPlane] = []

    init(_ layout: GuardedPlane.Layout) { self.layout = layout }

    /// Pseudo-random bytes.
    func noise(_ width: Int, _ height: Int, seed: Int = 0) -> GuardedPlane {
      let plane = GuardedPlane(width: width, height: height, layout: layout) { x, y in
        UInt8(truncatingIfNeeded: ((x &* 0x9E37 ^ y &* 0x85EB ^ seed &* 0xC2B3) &* 0x9E37_79B1) >> 13)
      }
      kept.append(plane)
      return plane
    }

    /// A single row, without a stride.
    func row(_ count: Int, seed: Int = 0) -> UnsafeRow { UnsafeRow(plane: noise(count, 1, seed: seed)) }

    /// The three planes of a 4:2:0 or a 4:4:4 image, with `bytes` for each sample.
    func image(_ width: Int, _ height: Int, bytes: Int = 1, halves: Bool = true) -> [GuardedPlane] {
      let chroma = halves ? ((width + 1) / 2, (height + 1) / 2) : (width, height)
      return [
        noise(bytes * width, height), noise(bytes * chroma.0, chroma.1, seed: 1),
        noise(bytes * chroma.0, chroma.1, seed: 2),
      ]
    }
  }

  /// A row of samples of any type.
  struct UnsafeRow {
    let plane: GuardedPlane

    func of<Sample>(_ type: Sample.Type) -> UnsafeMutablePointer<Sample> {
      UnsafeMutableRawPointer(plane.base).assumingMemoryBound(to: type)
    }
  }

  /// The bytes that the kernel writes on planes of a layout.
  func output(_ layout: GuardedPlane.Layout, _ width: Int, _ height: Int) -> [[UInt8]]? {
    let planes = Planes(layout)
    return withExtendedLifetime(planes) { run(planes, width, height)?.map(\.bytes) }
  }

  static let all: [Kernel] = geometry + reductions + filters + colors
}

extension Kernel {
  private static let geometry: [Kernel] = [
    onPlanes("copy") { ckernels_copy($0.base, $0.stride, $1.base, $1.stride, $1.width, $1.height) },
    onPlanes("copy mirrored") { ckernels_copy_mirrored($0.base, $0.stride, $1.base, $1.stride, $1.width, $1.height) },
    onPlanes("fill") { ckernels_fill($1.base, $1.stride, $1.width, $1.height, 7) },
    transpose, draw,
  ]

  private static let reductions: [Kernel] =
    [1, 2, 3, 8, 11].map(mean) + [
      halve(portable: 0), halve(portable: 1),
      twoThirds(portable: 0), twoThirds(portable: 1),
    ]

  private static let filters: [Kernel] = [
    weigh(portable: 0), weigh(portable: 1), resample(portable: false), resample(portable: true),
    deinterlace(isWide: false, keepsLower: false), deinterlace(isWide: false, keepsLower: true),
    deinterlace(isWide: true, keepsLower: false), deinterlace(isWide: true, keepsLower: true), correlate,
  ]

  /// A kernel with one plane to read, `scale` times as large as the one that it writes.
  private static func onPlanes(
    _ name: String, scale: Int = 1, _ body: @escaping @Sendable (_ source: GuardedPlane, _ target: GuardedPlane) -> Void
  ) -> Kernel {
    Kernel(name) { planes, width, height in
      let (source, target) = (planes.noise(scale * width, scale * height), planes.noise(width, height, seed: 1))
      body(source, target)
      return [target]
    }
  }

  private static let transpose = Kernel("transpose") { planes, width, height in
    let (source, target) = (planes.noise(height, width), planes.noise(width, height, seed: 1))
    ckernels_transpose(source.base, source.stride, target.base, target.stride, height, width)
    return [target]
  }

  private static let draw = Kernel("draw with rounded corners") { planes, width, height in
    let (source, target) = (planes.noise(width, height), planes.noise(width, height, seed: 1))
    let side = min(width, height) / 2
    let coverage = planes.row(side * side, seed: 2)
    ckernels_draw_rounded(
      source.base, source.stride, target.base, target.stride, width, height, coverage.of(UInt8.self), side)
    return [target]
  }

  private static func mean(_ side: Int) -> Kernel {
    onPlanes("mean of \(side)", scale: side) { source, target in
      let status = ckernels_mean(
        source.base, source.stride, target.base, target.stride, target.width, target.height, side)
      precondition(status == 0)
    }
  }

  private static func halve(portable: Int32) -> Kernel {
    onPlanes("halve\(variant(portable))", scale: 2) {
      ckernels_halve($0.base, $0.stride, $1.base, $1.stride, $1.width, $1.height, portable)
    }
  }

  private static func twoThirds(portable: Int32) -> Kernel {
    Kernel("two thirds\(variant(portable))") { planes, width, height in
      guard width % 2 == 0, height % 2 == 0, width > 0, height > 0 else { return nil }
      let source = planes.noise(width / 2 * 3, height / 2 * 3)
      let target = planes.noise(width, height, seed: 1)
      let status = ckernels_two_thirds(
        source.base, source.stride, target.base, target.stride, width, height, portable)
      return status == 0 ? [target] : nil
    }
  }

  private static func weigh(portable: Int32) -> Kernel {
    Kernel("weigh rows\(variant(portable))") { planes, width, taps in
      guard taps > 0 else { return nil }
      let (source, target) = (planes.noise(width, taps), planes.row(width, seed: 1))
      let rows: [UnsafePointer<UInt8>?] = (0..<taps).map { UnsafePointer(source.base + $0 * source.stride) }
      var weights = [Int16](repeating: Int16(16_384 / taps), count: taps)
      weights[0] += Int16(16_384 % taps)
      ckernels_weigh_rows(rows, weights, taps, target.of(UInt8.self), width, portable)
      return [target.plane]
    }
  }

  private static func resample(portable: Bool) -> Kernel {
    Kernel("resample\(variant(portable ? 1 : 0))") { planes, width, height in
      guard height > 0 else { return nil }
      let (source, target) = (planes.noise(width, 2 * height + 1), planes.noise(width, height, seed: 1))
      ResamplingFilter(from: source.height, to: height).resample(
        source.base, stride: source.stride, into: target.base, targetStride: target.stride, width: width,
        portable: portable)
      return [target]
    }
  }

  private static func deinterlace(isWide: Bool, keepsLower: Bool) -> Kernel {
    Kernel("deinterlace\(isWide ? " words" : "")\(keepsLower ? " from the bottom field" : "")") {
      planes, width, height in
      let bytes = isWide ? 2 * width : width
      let target = planes.noise(bytes, height, seed: 3)
      let rows = (0..<3).map { seed in
        let plane = planes.noise(bytes, height, seed: seed)
        return Deinterlacing.Rows((UnsafeMutableRawPointer(plane.base), plane.stride))
      }
      Deinterlacing.draw(
        previous: rows[0], current: rows[1], next: rows[2],
        into: .init((UnsafeMutableRawPointer(target.base), target.stride)),
        width: width, height: height, keepsLower: keepsLower, isWide: isWide)
      return [target]
    }
  }

  private static let correlate = Kernel("correlate") { planes, width, height in
    let count = width * height
    let (a, b) = (planes.row(2 * count), planes.row(2 * count, seed: 1))
    for row in [a, b] { for index in 0..<count { row.of(Int16.self)[index] >>= 4 } }
    let sum = planes.row(8)
    sum.of(Int64.self).pointee = ckernels_correlate(a.of(Int16.self), b.of(Int16.self), count)
    return [sum.plane]
  }

  static func variant(_ portable: Int32) -> String { portable == 0 ? "" : ", portable" }
}
