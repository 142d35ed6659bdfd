package import Model

/// The reason why a file is not a clip, by its boxes.
package enum ContainerRefusal: Error, Sendable, Hashable {
  /// The file has no bytes.
  case empty
  /// The file has another format.
  case unsupported(FileSignature)
  /// The file is shorter than its boxes say, or a required box is missing.
  case truncated(finding: String, offset: Int64)
  /// The boxes are inconsistent.
  case damaged(finding: String, offset: Int64)
  /// The file has no video track, only tracks with these handlers.
  case noVideoTrack(handlers: [BoxType])

  /// The position in the file, in bytes.
  package var offset: Int64? {
    switch self {
    case .truncated(_, let offset), .damaged(_, let offset): offset
    case .empty, .unsupported, .noVideoTrack: nil
    }
  }
}

extension ContainerRefusal: CustomStringConvertible {
  /// The error and what the user can do about it.
  package var description: String {
    switch self {
    case .empty:
      "The file is empty. Send the clip itself; the app may have sent it before it was written."
    case .unsupported(let found):
      "The file is \(found.name), not a MOV, MP4 or 3GP video, regardless of its name. "
        + (found.kind == .image ? "Send the clip, not an image." : "Export the clip as MP4.")
    case .truncated(let finding, let offset):
      "The file is truncated: \(finding) (at byte \(offset)). Send the clip again after it was saved completely."
    case .damaged(let finding, let offset):
      "The file is damaged: \(finding) (at byte \(offset)). Send or export the clip again."
    case .noVideoTrack(let handlers) where handlers.isEmpty:
      "The file has no tracks. Send the clip itself."
    case .noVideoTrack(let handlers):
      "The file has no video track, only \(handlers.map { "'\($0)'" }.joined(separator: ", ")). "
        + "Send the clip, not only its audio."
    }
  }
}

extension Reason {
  /// The reason for an input whose boxes are rejected.
  package init(_ refusal: ContainerRefusal, input: InputName) {
    self.init(Self.code(of: refusal), input: input, detail: refusal.description, byteOffset: refusal.offset)
  }

  /// The reason for a file that is not a photo of an accepted format.
  package init(unsupportedPhoto found: FileSignature, accepted: [PhotoFormat]) {
    let formats = accepted.map(\.name).joined(separator: ", ")
    let remedy = found.kind == .video ? "Send the photo, not a clip." : "Export the photo as JPEG."
    self.init(
      .unsupportedContainer, input: .photo,
      detail: "The file is \(found.name), not a photo of an accepted format (\(formats)). \(remedy)")
  }

  /// The reason for a file that is neither a clip nor a photo, where both are accepted.
  package init(unsupportedMedium start: [UInt8]) {
    guard !start.isEmpty else {
      self.init(
        .emptyFile, input: nil,
        detail: "The file is empty. Send the clip or the photo itself; the app may have sent it before it was written.")
      return
    }
    let formats = PhotoFormat.allCases.map(\.name).joined(separator: ", ")
    self.init(
      .unsupportedContainer, input: nil,
      detail: "The file is \(FileSignature(start).name), neither a MOV, MP4 or 3GP video nor a photo (\(formats)), "
        + "regardless of its name. Export the clip as MP4, or the photo as JPEG.")
  }

  private static func code(of refusal: ContainerRefusal) -> ReasonCode {
    switch refusal {
    case .empty: .emptyFile
    case .unsupported: .unsupportedContainer
    // In practice, inconsistent boxes come from files that were not written to the end.
    case .truncated, .damaged: .truncatedContainer
    case .noVideoTrack: .noVideoStream
    }
  }
}
