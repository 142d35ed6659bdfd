package import Model

/// What the media process answers.
package enum MediaReply: Codable, Sendable, Hashable {
  /// What the headers of the inputs say, and the reasons for which they are refused.
  case probed(ProbeReport)
  /// The run has come so far, 0 to 1; at most five times a second.
  case progress(Double)
  /// The run is over and its outputs are written.
  case result(RunReport)
  /// What was found in a photo; its outputs are written where it was accepted.
  case photo(PhotoReport)
  /// The run broke off; nothing is said about the media.
  case failure(MediaFailure)
}
