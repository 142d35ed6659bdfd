internal import ISOBaseMedia
internal import Model

/// Judges the tracks of a clip by its `moov` box.
struct MovieJudgement {
  private let content: [UInt8]
  private let limits: Limits
  private let input: InputName
  private let length: Int64?

  /// - Parameter content: the content of the box, whose structure is valid.
  init(_ content: [UInt8], limits: Limits, input: InputName, length: Int64?) {
    self.content = content
    self.limits = limits
    self.input = input
    self.length = length
  }

  /// The reason for which no demuxer and decoder accept the clip; nil if they may.
  func reason(handlers: [BoxType]) -> Reason? {
    guard handlers.contains("vide") else { return Reason(.noVideoTrack(handlers: handlers), input: input) }
    return nil
  }
}
