import AV
import Model
import Platform

/// What ends a run before its end: the media are refused, or nothing can be said about them.
enum Stop: Error {
  case refused(Reason)
  case failed(MediaError)

  /// A failure of an encoder, a muxer or a scaler, none of which the input is to blame for.
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

  /// Does work whose failure is not the input's fault.
  static func wrap<Result: ~Copyable>(_ work: () throws(AVError) -> Result) throws(Stop) -> Result {
    do { return try work() } catch { throw Stop(error) }
  }
}
