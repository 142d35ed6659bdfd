import AV

/// Where a reader's pictures and packets come from: decoded when they are asked for, or ahead on another thread.
///
/// Both give the same pictures and packets in the same order.
protocol FrameSource: AnyObject {
  /// The input's headers.
  var demuxer: Demuxer { get }

  /// Gives the next picture that is shown, and its time in ticks of the video stream; nil after the last one.
  ///
  /// - Parameters:
  ///   - picture: takes it.
  ///   - packets: told every packet that was read on the way, in the order of the file.
  func next(
    into picture: borrowing Frame, packets: (borrowing Packet) throws(Stop) -> Void
  ) throws(Stop) -> Int64?
}
