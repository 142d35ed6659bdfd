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
  /// The end of the child that the media caused; nil for other failures.
  package var crash: MediaCrash?

  package init(_ kind: Kind, _ detail: String, crash: MediaCrash? = nil) {
    self.kind = kind
    self.detail = detail
    self.crash = crash
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

  /// The reason of the refusal if the media cause the failure; nil if they cannot be the cause.
  ///
  /// - Parameter input: `.photo` for a photo; nil for clips.
  package func reason(input: InputName?) -> Reason? {
    refusalCode.map { code in
      Reason(code, input: input, detail: "\(detail); \(Remedy(for: code, input: input).clause)")
    }
  }
}

/// The end of a child that its media caused: by its own fault, or at one of its own limits.
package struct MediaCrash: Codable, Sendable, Hashable {
  /// The request at which the child ended.
  package enum Stage: String, Codable, Sendable {
    case probe
    case run
    case photo
  }

  /// The limits of a child.
  package struct Limits: Codable, Sendable, Hashable {
    /// The address space, in bytes.
    package let memory: UInt64
    /// The CPU time of all of its threads, in seconds.
    package let cpuSeconds: UInt64
    /// One output file, in bytes.
    package let fileSize: UInt64
    /// The time by the clock, in seconds.
    package let deadlineSeconds: Double

    package init(memory: UInt64, cpuSeconds: UInt64, fileSize: UInt64, deadlineSeconds: Double) {
      self.memory = memory
      self.cpuSeconds = cpuSeconds
      self.fileSize = fileSize
      self.deadlineSeconds = deadlineSeconds
    }
  }

  package let stage: Stage
  /// The name of the signal, such as `SIGSEGV`; nil if the child ended at its limit of memory or time without one.
  package let signal: String?
  package let limits: Limits

  package init(stage: Stage, signal: String?, limits: Limits) {
    self.stage = stage
    self.signal = signal
    self.limits = limits
  }
}
