import AV

/// Somebody who wants an input's frames as they are decoded, in the order of presentation.
protocol FrameTap: AnyObject {
  /// Whether it wants no more frames.
  var isSatisfied: Bool { get }

  /// - Parameters:
  ///   - frame: to be read now; it is changed later.
  ///   - end: when the next frame follows, in seconds from the clip's start; nil for the last one.
  func take(_ frame: borrowing Frame, until end: Double?) throws(Stop)
}
