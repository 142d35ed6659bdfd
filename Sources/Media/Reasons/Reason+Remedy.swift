import Model

extension Reason {
  /// A reason told in two sentences: what was found, and what helps against it.
  ///
  /// - Parameter finding: without a capital letter in front and a full stop behind.
  init(_ code: ReasonCode, input: InputName?, finding: String, seconds: Double? = nil) {
    let found = finding.prefix(1).uppercased() + finding.dropFirst() + "."
    let remedy = input == .photo ? Self.photoRemedy(for: code) : Self.remedy(for: code)
    self.init(code, input: input, detail: [found, remedy].joined(separator: " "), seconds: seconds)
  }

  private static func photoRemedy(for code: ReasonCode) -> String {
    switch code {
    case .emptyFile: "Send the photo itself; the app may have sent it before it was written."
    case .unsupportedContainer, .unsupportedCodec: "Export the photo as JPEG."
    case .truncatedContainer: "Send the photo again, whole."
    case .corruptImage: "Send the photo again; if it is damaged on the phone too, take another."
    case .tooLarge: "Export the photo at a lower resolution."
    default: "Take another photo."
    }
  }

  private static func remedy(for code: ReasonCode) -> String {
    switch code {
    case .emptyFile: "Send the clip itself; the app may have sent it before it was written."
    case .unsupportedContainer: "Export the clip as MP4."
    case .truncatedContainer: "Send the clip again, whole."
    case .noVideoStream: "Send the clip, not its sound."
    case .unsupportedCodec: "Film with the phone's usual settings."
    case .corruptVideo, .corruptImage: "Send the clip again; if it is damaged on the phone too, film again."
    case .durationOutOfRange, .decoderCrashed, .memoryLimitExceeded, .deadlineExceeded: "Film the moment again."
    case .durationsDiffer, .notOneMoment: "Submit both clips of one moment."
    case .tooLarge: "Film at a lower resolution."
    case .sameFileTwice: "Submit the clip of each camera."
    }
  }
}
