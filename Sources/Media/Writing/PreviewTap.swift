import AV
import Model

/// Takes the pictures of a moving preview out of an input.
final class PreviewTap: FrameTap {
  let writer: PreviewWriter

  init(_ writer: PreviewWriter) { self.writer = writer }

  var isSatisfied: Bool { writer.nextTime == nil }

  func take(_ frame: borrowing Frame, until end: Double?) throws(Stop) {
    guard let end else { return try writer.write(frame) }
    while let time = writer.nextTime, time < end { try writer.write(frame) }
  }
}
