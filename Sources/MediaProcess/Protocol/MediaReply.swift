package import Model

/// What the media process answers.
package enum MediaReply: Codable, Sendable, Hashable {
  /// The input can be read; this is what its headers say.
  case facts(ClipFacts)
  /// The input is refused by its headers.
  case refused(Reason)
  /// The run has come so far, 0 to 1; at most five times a second.
  case progress(Double)
  /// The run is over and its outputs are written.
  case result(RunReport)
  /// The run broke off; nothing is said about the media.
  case failure(MediaFailure)
}
