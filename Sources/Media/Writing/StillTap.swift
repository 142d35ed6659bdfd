import AV
import Model

/// Takes a picture out of an input at its time; past the end it is the last frame.
final class StillTap: FrameTap {
  let writer: StillWriter

  init(_ writer: StillWriter) { self.writer = writer }

  var isSatisfied: Bool { writer.facts != nil }

  func take(_ frame: borrowing Frame, until end: Double?) throws(Stop) {
    if let end, writer.plan.at >= end { return }
    try writer.write(frame)
  }
}
