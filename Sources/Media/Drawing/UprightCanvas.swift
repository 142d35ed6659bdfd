import AV
import Model

/// An input's current frame, upright and in the size of an output, ready to be encoded.
///
/// Where the frame already is that, and is nobody else's, it is lent itself: no pixel is copied.
final class UprightCanvas {
  private let converter: UprightConverter
  /// Nil where the frame itself serves.
  private let memory: Frame?
  private let lent: Frame
  /// The form in which a reader may have prepared its pictures for it.
  let preparation: Preparation
  private var drawn: Int?

  /// - Parameter inPlace: whether the reader's frame may be drawn on: nothing is decoded while it is lent.
  init(from layout: FrameLayout, to size: Size, inPlace: Bool) throws(Stop) {
    let converter = try UprightConverter(from: layout, to: size)
    self.converter = converter
    preparation = Preparation(layout: layout, size: size)
    memory =
      converter.isIdentity && inPlace
      ? nil
      : try Stop.wrap { () throws(AVError) in try Frame(width: size.width, height: size.height, format: .yuv420p) }
    lent = try Stop.wrap { () throws(AVError) in try Frame() }
  }

  /// What is done to each frame, for the decision log.
  var summary: String { converter.isIdentity ? "\(converter.summary), used in place" : converter.summary }

  /// Lends the reader's current frame to `use`, which may draw on it if it puts back what it covered.
  func lend(_ reader: ClipReader, to use: (borrowing Frame) throws(Stop) -> Void) throws(Stop) {
    if reader.preparation == preparation, try reader.withPrepared(refer) {
      // Nobody else has the prepared picture: it is drawn on as it is.
    } else {
      switch memory {
      case .some(let memory):
        if drawn != reader.frames {
          try converter.draw(reader.current, into: memory.picture)
          drawn = reader.frames
        }
        try refer(to: memory)
      case .none: try refer(to: reader.current)
      }
    }
    defer { lent.unreference() }
    try use(lent)
  }

  private func refer(to frame: borrowing Frame) throws(Stop) {
    do { try lent.referenceForEncoding(frame) } catch { throw Stop(error) }
  }
}
