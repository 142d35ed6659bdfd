package import Model

/// A failure of the media process that gives no verdict.
package struct MediaFailure: Error, Codable, Sendable, Hashable, CustomStringConvertible {
  /// The kinds that a caller treats differently.
  package enum Kind: String, Codable, Sendable {
    /// The media process crashed: a signal caused by its own fault ended it.
    case crashed
    /// The media process reached its memory limit.
    case memoryLimitExceeded = "memory_limit_exceeded"
    /// The deadline passed without a reply.
    case deadlineExceeded = "deadline_exceeded"
    /// Another process killed or stopped it, or it got too little processor time.
    case interrupted
    /// The caller cancelled it.
    case cancelled
    /// The device is full.
    case outOfSpace = "out_of_space"
    /// The process could not be started, or a descriptor could not be read or written.
    case unavailable
    /// A library call failed that should succeed, or the process exited: a fault of this program.
    case `internal`
    /// A message did not follow the protocol.
    case protocolViolation = "protocol_violation"
  }

  package let kind: Kind
  package let detail: String

  package init(_ kind: Kind, _ detail: String) {
    self.kind = kind
    self.detail = detail
  }

  package var description: String { "\(kind.rawValue): \(detail)" }

  /// The reason code of the refusal if the media cause the failure; nil if they cannot be the cause.
  package var refusalCode: ReasonCode? {
    switch kind {
    case .crashed: .decoderCrashed
    case .memoryLimitExceeded: .memoryLimitExceeded
    case .deadlineExceeded: .deadlineExceeded
    case .interrupted, .cancelled, .outOfSpace, .unavailable, .internal, .protocolViolation: nil
    }
  }
}
