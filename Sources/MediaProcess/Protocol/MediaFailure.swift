package import Model

/// Why a run broke off without a verdict.
package struct MediaFailure: Error, Codable, Sendable, Hashable, CustomStringConvertible {
  /// The kinds that a caller treats differently.
  package enum Kind: String, Codable, Sendable {
    /// The media process ended by itself or by a signal: the media may be to blame.
    case crashed
    /// The deadline passed: the media may be to blame.
    case deadlineExceeded = "deadline_exceeded"
    /// The caller asked for it.
    case cancelled
    /// No room on the device.
    case outOfSpace = "out_of_space"
    /// The process could not be started, or a descriptor could not be read or written.
    case unavailable
    /// A library refused what it should be able to do: a fault of ours.
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

  /// The code of the refusal that the failure becomes once it is laid to the media.
  package var refusalCode: ReasonCode { kind == .deadlineExceeded ? .deadlineExceeded : .decoderCrashed }

  /// Whether the media may be the reason: such an attempt is counted against them.
  ///
  /// A library that fails counts too: inside it, out of memory looks like any other fault.
  package var mayBeTheMedia: Bool { kind == .crashed || kind == .deadlineExceeded || kind == .internal }
}
