import AV
import Kernels
import Model

/// A canvas of one colour, in memory of its own.
final class PlainCanvas {
  let color: YUVColor
  private let memory: Frame
  private let lent: Frame

  init(_ size: Size, color: RGBColor) throws(Stop) {
    self.color = YUVColor(color)
    memory = try Stop.wrap { () throws(AVError) in
      try Frame(width: size.width, height: size.height, format: .yuv420p)
    }
    lent = try Stop.wrap { () throws(AVError) in try Frame() }
    memory.picture.fill(y: self.color.y, u: self.color.u, v: self.color.v)
  }

  /// To be painted on.
  var picture: MutableImagePlanes { memory.picture }

  /// Lends it to `use`, which may draw on it if it puts back what it covered.
  func lend(to use: (borrowing Frame) throws(Stop) -> Void) throws(Stop) {
    do { try lent.referenceForEncoding(memory) } catch { throw Stop(error) }
    defer { lent.unreference() }
    try use(lent)
  }
}
