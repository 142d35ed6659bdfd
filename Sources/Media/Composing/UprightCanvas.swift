import AV
import Kernels
import Model

/// Converts an input's current frame for an encoder: upright and of the output's size.
///
/// If the frame needs no conversion and may be drawn on, it is used in place: no pixel is copied.
final class UprightCanvas {
  private let converter: UprightConverter
  /// Nil if the frame is used in place.
  private let memory: Frame?
  private let reference: Frame
  /// The form into which a reader may prepare its frames.
  let preparation: Preparation
  private var drawn: Int?

  /// - Parameter isInPlace: whether the reader's frame may be drawn on.
  init(from layout: FrameLayout, to size: Size, isInPlace: Bool) throws(RunFailure) {
    let converter = try UprightConverter(from: layout, to: size)
    self.converter = converter
    preparation = Preparation(layout: layout, size: size)
    memory =
      converter.isIdentity && isInPlace
      ? nil
      : try RunFailure.wrap { () throws(AVError) in try Frame(width: size.width, height: size.height, format: .yuv420p)
      }
    reference = try RunFailure.wrap { () throws(AVError) in try Frame() }
  }

  /// The conversion of each frame, for the decision log.
  var summary: String { converter.isIdentity ? "\(converter.summary), used in place" : converter.summary }

  /// Calls `use` with the reader's current frame; `use` may draw on it if it restores the pixels.
  func withFrame(of reader: ClipReader, _ use: (borrowing Frame) throws(RunFailure) -> Void) throws(RunFailure) {
    if reader.preparation == preparation, try reader.withPrepared(refer) {
      // No other object refers to the prepared frame: it may be drawn on.
    } else {
      switch memory {
      case .some(let memory):
        if drawn != reader.frames {
          try converter.draw(reader.current, into: memory.imagePlanes)
          drawn = reader.frames
        }
        try refer(to: memory)
      case .none: try refer(to: reader.current)
      }
    }
    defer { reference.unreference() }
    try use(reference)
  }

  private func refer(to frame: borrowing Frame) throws(RunFailure) {
    do { try reference.referenceForEncoding(frame) } catch { throw RunFailure(error) }
  }
}

/// A canvas of one colour.
final class PlainCanvas {
  let color: YUVColor
  private let memory: Frame
  private let reference: Frame

  init(_ size: Size, color: RGBColor) throws(RunFailure) {
    self.color = YUVColor(color)
    memory = try RunFailure.wrap { () throws(AVError) in
      try Frame(width: size.width, height: size.height, format: .yuv420p)
    }
    reference = try RunFailure.wrap { () throws(AVError) in try Frame() }
    memory.imagePlanes.fill(y: self.color.y, u: self.color.u, v: self.color.v)
  }

  /// The planes to paint on.
  var imagePlanes: MutableImagePlanes { memory.imagePlanes }

  /// Calls `use` with the canvas; `use` may draw on it if it restores the pixels.
  func withFrame(_ use: (borrowing Frame) throws(RunFailure) -> Void) throws(RunFailure) {
    do { try reference.referenceForEncoding(memory) } catch { throw RunFailure(error) }
    defer { reference.unreference() }
    try use(reference)
  }
}

/// A colour in the outputs' encoding: 8-bit BT.709 in limited range (ITU-R BT.709-6, items 3.2 to 3.5).
struct YUVColor: Hashable, Sendable {
  let y: UInt8
  let u: UInt8
  let v: UInt8

  init(_ color: RGBColor) {
    let (red, green, blue) = (Double(color.red) / 255, Double(color.green) / 255, Double(color.blue) / 255)
    let luma = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    y = UInt8((16 + 219 * luma).rounded())
    u = UInt8((128 + 224 * (blue - luma) / 1.8556).rounded())
    v = UInt8((128 + 224 * (red - luma) / 1.5748).rounded())
  }
}
