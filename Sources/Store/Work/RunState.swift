/// The state of a run over stored media.
package enum RunState: String, Codable, Sendable, CaseIterable {
  case running, paused, cancelled, completed

  /// Whether the run starts no further items and cannot be resumed.
  package var isFinal: Bool { self == .cancelled || self == .completed }
}
