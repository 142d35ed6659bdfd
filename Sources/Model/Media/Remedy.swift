/// What the user can do about rejected or doubtful media, as a sentence. All of these sentences stand here.
package struct Remedy: Sendable, Hashable {
  package let sentence: String

  private init(_ sentence: String) { self.sentence = sentence }

  /// The sentence as a part of another one: lower case at its start, without a full stop.
  package var clause: String { sentence.prefix(1).lowercased() + sentence.dropFirst().dropLast() }
}

extension Remedy {
  /// The remedy for a reason.
  package init(for code: ReasonCode, input: InputName?) {
    self.init(input == .photo ? Self.photo(code) : Self.clip(code, isOnlyOne: input == .clip))
  }

  private static func photo(_ code: ReasonCode) -> String {
    switch code {
    case .emptyFile: "Send the photo itself; the app may have sent it before it was written."
    case .unsupportedContainer: "Export the photo as JPEG."
    case .unsupportedCodec: "Export the photo as JPEG, baseline or progressive, with 8 bits for each sample."
    case .truncatedContainer: "Send the photo again after it was saved completely."
    case .corruptImage: "Send the photo again; if it is damaged on the phone too, take another."
    case .tooLarge: "Export the photo at a lower resolution."
    case .uploadExpired, .digestMismatch: clip(code, isOnlyOne: true)
    default: "Take another photo."
    }
  }

  private static func clip(_ code: ReasonCode, isOnlyOne: Bool) -> String {
    switch code {
    case .emptyFile: "Send the clip itself; the app may have sent it before it was written."
    case .unsupportedContainer: "Export the clip as MP4."
    case .truncatedContainer: "Send the clip again after it was saved completely."
    case .noVideoStream: "Send the clip, not only its audio."
    case .unsupportedCodec: usualSettings
    case .corruptVideo, .corruptImage: damagedClip
    case .durationOutOfRange: "Film the moment again."
    case .durationsDiffer, .notOneMoment: bothClips
    case .tooLarge: "Film at a lower resolution."
    case .sameFileTwice: "Submit the clip of each camera."
    case .uploadExpired: "Submit it again."
    case .digestMismatch: "Send the file again: it has changed, or was changed on its way."
    case .decoderCrashed, .memoryLimitExceeded, .deadlineExceeded, .quarantined:
      isOnlyOne ? "Film it again." : "Film the moment again."
    }
  }

  /// The remedy for a warning.
  package init(for code: WarningCode) {
    let sentence =
      switch code {
      case .blackVideo: "Make sure that nothing covers the camera, and film again."
      case .frozenVideo: "If something should, close other apps that use the camera, and film again."
      case .silentAudio: "Allow the app to use the microphone, and film again."
      case .damagedAudio: Self.damagedClip
      case .unsupportedAudio: Self.usualSettings
      case .notOneMoment: Self.bothClips
      case .notAligned: "Start both cameras at the same time, and film again."
      }
    self.init(sentence)
  }

  private static let damagedClip = "Send the clip again; if it is damaged on the phone too, film again."
  private static let usualSettings = "Film with the phone's usual settings."
  private static let bothClips = "Submit both clips of one moment."
}

/// The remedies for findings that say more than their code.
extension Remedy {
  package static let sendClip = Remedy("Send the clip itself.")
  package static let sendPhoto = Remedy("Send the photo itself.")
  package static let sendClipOrPhoto = Remedy(
    "Send the clip or the photo itself; the app may have sent it before it was written.")
  package static let sendClipNotImage = Remedy("Send the clip, not an image.")
  package static let sendPhotoNotClip = Remedy("Send the photo, not a clip.")
  package static let sendOrExportClip = Remedy("Send or export the clip again.")
  package static let exportClipOrPhoto = Remedy("Export the clip as MP4, or the photo as JPEG.")
  package static let filmSlower = Remedy("Film with fewer frames per second.")
  package static let exportSmaller = Remedy("Export it at a lower resolution or bit rate.")
}
