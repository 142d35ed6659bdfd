import AV
import Model
import Platform

/// The error that ends a run: the media are refused, or the run fails without a verdict on them.
enum RunFailure: Error {
  case refused(Reason)
  case failed(MediaError)

  /// A failure of an encoder, a muxer or a scaler, which no input causes.
  init(_ error: AVError) {
    if error.isInterruption {
      self = .failed(MediaError(.cancelled, "the run was cancelled"))
    } else if error.isOutOfSpace {
      self = .failed(MediaError(.outOfSpace, "\(error)"))
    } else if error.isOutOfMemory {
      self = .failed(MediaError(.outOfMemory, "\(error)"))
    } else {
      self = .failed(MediaError(error.systemCode == nil ? .library : .inputOutput, "\(error)"))
    }
  }

  init(_ error: SystemError) {
    self = .failed(MediaError(error.isOutOfSpace ? .outOfSpace : .inputOutput, "\(error)"))
  }

  /// What the plan needs did not come with it.
  static func missing(_ what: String) -> RunFailure {
    .failed(MediaError(.invalidPlan, "the plan needs \(what), which is missing"))
  }

  /// Performs work whose failure no input causes.
  static func wrap<Result: ~Copyable>(_ work: () throws(AVError) -> Result) throws(RunFailure) -> Result {
    do { return try work() } catch { throw RunFailure(error) }
  }
}

/// A failure of media work that says nothing about the media.
package struct MediaError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kinds that a caller treats differently.
  package enum Kind: Hashable, Sendable {
    /// The cancellation flag was raised.
    case cancelled
    /// The device is full, or a file reached the file-size limit.
    case outOfSpace
    /// An allocation failed, or reached the memory limit of the process.
    case outOfMemory
    /// A descriptor could not be read or written.
    case inputOutput
    /// The plan does not match the inputs or outputs that came with it.
    case invalidPlan
    /// A library call failed that should succeed.
    case library
  }

  package let kind: Kind
  /// A sentence that names the call that failed.
  package let detail: String

  package init(_ kind: Kind, _ detail: String) {
    self.kind = kind
    self.detail = detail
  }

  package var description: String { detail }
}
