package import Model

/// Why a run broke off without a verdict.
package struct MediaFailure: Error, Codable, Sendable, Hashable, CustomStringConvertible {
  /// The kinds that a caller treats differently.
  package enum Kind: String, Codable, Sendable {
    /// The media process broke, by a signal of its own.
    case crashed
    /// It asked for more memory than it may have.
    case memoryLimitExceeded = "memory_limit_exceeded"
    /// The deadline passed.
    case deadlineExceeded = "deadline_exceeded"
    /// It was ended, stopped or starved from outside.
    case interrupted
    /// The caller asked for it.
    case cancelled
    /// No room on the device.
    case outOfSpace = "out_of_space"
    /// The process could not be started, or a descriptor could not be read or written.
    case unavailable
    /// A library refused what it should be able to do, or the process exited: a fault of ours.
    case `internal`
    /// The two sides do not understand each other.
    case protocolViolation = "protocol_violation"
  }

  package let kind: Kind
  /// What happened, in a sentence.
  package let detail: String

  package init(_ kind: Kind, _ detail: String) {
    self.kind = kind
    self.detail = detail
  }

  package var description: String { "\(kind.rawValue): \(detail)" }

  /// The code of the refusal that the failure becomes once it is laid to the media; nil if it says nothing about them.
  package var refusalCode: ReasonCode? {
    switch kind {
    case .crashed: .decoderCrashed
    case .memoryLimitExceeded: .memoryLimitExceeded
    case .deadlineExceeded: .deadlineExceeded
    case .interrupted, .cancelled, .outOfSpace, .unavailable, .internal, .protocolViolation: nil
    }
  }
}
