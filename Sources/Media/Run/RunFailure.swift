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

extension Reason {
  /// A reason whose detail has two sentences: the finding, and the remedy.
  ///
  /// - Parameter finding: lower case at its start, without a full stop.
  init(_ code: ReasonCode, input: InputName?, finding: String, seconds: Double? = nil) {
    let found = finding.prefix(1).uppercased() + finding.dropFirst() + "."
    let remedy = input == .photo ? Self.photoRemedy(for: code) : Self.remedy(for: code)
    self.init(code, input: input, detail: [found, remedy].joined(separator: " "), seconds: seconds)
  }

  private static func photoRemedy(for code: ReasonCode) -> String {
    switch code {
    case .emptyFile: "Send the photo itself; the app may have sent it before it was written."
    case .unsupportedContainer, .unsupportedCodec: "Export the photo as JPEG."
    case .truncatedContainer: "Send the photo again after it was saved completely."
    case .corruptImage: "Send the photo again; if it is damaged on the phone too, take another."
    case .tooLarge: "Export the photo at a lower resolution."
    default: "Take another photo."
    }
  }

  private static func remedy(for code: ReasonCode) -> String {
    switch code {
    case .emptyFile: "Send the clip itself; the app may have sent it before it was written."
    case .unsupportedContainer: "Export the clip as MP4."
    case .truncatedContainer: "Send the clip again after it was saved completely."
    case .noVideoStream: "Send the clip, not only its audio."
    case .unsupportedCodec: "Film with the phone's usual settings."
    case .corruptVideo, .corruptImage: "Send the clip again; if it is damaged on the phone too, film again."
    case .durationOutOfRange, .decoderCrashed, .memoryLimitExceeded, .deadlineExceeded: "Film the moment again."
    case .durationsDiffer, .notOneMoment: "Submit both clips of one moment."
    case .tooLarge: "Film at a lower resolution."
    case .sameFileTwice: "Submit the clip of each camera."
    }
  }
}
