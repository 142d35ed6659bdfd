import CKernels
import Kernels
import MemoryTesting

extension Kernel {
  static let colors: [Kernel] = [
    correct(halves: true, portable: 0), correct(halves: true, portable: 1), correct(halves: false, portable: 0),
    Kernel("map colours") { convert(Tables.nodes, $0, $1, $2) },
    Kernel("convert gamut") { convert(Tables.gamut, $0, $1, $2) },
    Kernel("convert gamut by a tone curve") { convert(Tables.bright, $0, $1, $2) }, fromRGBA(0), fromRGBA(1),
    toRGB(halves: true),
    toRGB(halves: false),
  ]

  private static func correct(halves: Bool, portable: Int32) -> Kernel {
    Kernel("correct colours, \(halves ? "4:2:0" : "4:4:4")\(variant(portable))") { planes, width, height in
      let image = planes.image(width, height, halves: halves)
      var pointers = planes8(image)
      ckernels_correct_colors(
        &pointers, width, height, halves ? 1 : 0, Tables.correctionLuma.of(UInt16.self),
        Tables.correctionChroma.of(UInt16.self), portable)
      return image
    }
  }

  private static func fromRGBA(_ isPremultiplied: Int32) -> Kernel {
    Kernel("RGBA to YCbCr\(isPremultiplied == 1 ? ", premultiplied" : "")") { planes, width, _ in
      let source = planes.row(4 * width)
      let target = (1...3).map { planes.row(width, seed: $0) }
      let bytes = target.map { $0.of(UInt8.self) }
      ckernels_rgba_to_ycbcr(source.of(UInt8.self), isPremultiplied, bytes[0], bytes[1], bytes[2], width)
      return target.map(\.plane)
    }
  }

  private static func toRGB(halves: Bool) -> Kernel {
    Kernel("YCbCr to RGB, \(halves ? "4:2:0" : "4:4:4")") { planes, width, _ in
      let source = planes.image(width, 1, halves: halves)
      let target = planes.row(3 * width, seed: 3)
      ckernels_ycbcr_to_rgb(
        source[0].base, source[1].base, source[2].base, halves ? 1 : 0, target.of(UInt8.self), width)
      return [target.plane]
    }
  }

  private static func planes8(_ image: [GuardedPlane]) -> ckernels_planes8 {
    ckernels_planes8(
      y: image[0].base, u: image[1].base, v: image[2].base, y_stride: image[0].stride, u_stride: image[1].stride,
      v_stride: image[2].stride)
  }

  private static func convert(_ table: ColorTable, _ planes: Planes, _ width: Int, _ height: Int) -> [GuardedPlane]? {
    guard width % 2 == 0, height % 2 == 0 else { return nil }
    let (source, target) = (planes.image(width, height, bytes: 2), planes.image(width, height))
    let from = source.map { (base: UnsafeRawPointer($0.base), stride: $0.stride) }
    let to = target.map { MutablePlane(base: $0.base, stride: $0.stride, width: $0.width, height: $0.height) }
    table.map(ColorTable.Source(y: from[0], u: from[1], v: from[2]), into: .init(y: to[0], u: to[1], v: to[2]))
    return target
  }

  /// Tables of the sizes that CKernels.h states, at whose ends nothing may be accessed.
  private enum Tables {
    private static let nodeCount = Int(CKERNELS_CORRECTION_NODES * CKERNELS_CORRECTION_NODES)
    nonisolated(unsafe) static let correctionLuma = entries(nodeCount * 256 + 1)
    nonisolated(unsafe) static let correctionChroma = entries(nodeCount * Int(CKERNELS_CORRECTION_STEPS) * 2)
    static let nodes = ColorTable { ColorTable.Codes(y: $0.y / 4, u: $0.v / 4, v: $0.u / 4) }
    static let bright = ColorTable(
      GamutConversion(
        black: 0, signal: (1 / 1023, 1.4746 / 1023, -0.1646 / 1023, -0.5714 / 1023, 1.8814 / 1023),
        light: { 6 * $0 * $0 },
        rows: (SIMD3(1.6605, -0.5876, -0.0728), SIMD3(-0.1246, 1.1329, -0.0083), SIMD3(-0.0182, -0.1006, 1.1187)),
        shown: { min($0, 1) }, signals: { $0.squareRoot() }))
    static let gamut = ColorTable(
      GamutConversion(
        black: 64, signal: (1 / 876, 1.4746 / 896, -0.1646 / 896, -0.5714 / 896, 1.8814 / 896), light: { $0 * $0 },
        rows: (SIMD3(1.6605, -0.5876, -0.0728), SIMD3(-0.1246, 1.1329, -0.0083), SIMD3(-0.0182, -0.1006, 1.1187)),
        signals: { $0.squareRoot() }))

    private static func entries(_ count: Int) -> UnsafeRow {
      Planes(GuardedPlane.Layout(rows: .packed, edge: .end)).row(2 * count)
    }
  }
}
