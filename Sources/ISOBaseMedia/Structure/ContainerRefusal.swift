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
  package var description: String { Reason(self, input: .clip).detail }

  // A file may have thousands of tracks, and the text goes to the client and into the database.
  private static let maxNamedTracks = 8

  /// - Parameter containers: those that are accepted.
  fileprivate func finding(accepted containers: [ContainerName]) -> String {
    switch self {
    case .empty: "the file is empty"
    case .unsupported(let found): "the file is \(found.name), not a \(containers.videos), regardless of its name"
    case .truncated(let finding, let offset): "the file is truncated: \(finding) (at byte \(offset))"
    case .damaged(let finding, let offset): "the file is damaged: \(finding) (at byte \(offset))"
    case .noVideoTrack(let handlers) where handlers.isEmpty: "the file has no tracks"
    case .noVideoTrack(let handlers):
      "the file has no video track, only "
        + (handlers.prefix(Self.maxNamedTracks).map { "'\($0)'" }
        + (handlers.count > Self.maxNamedTracks ? [CountText.text(handlers.count - Self.maxNamedTracks, "other")] : []))
        .joined(separator: ", ")
    }
  }

  /// The remedy, if it differs from the code's.
  fileprivate var remedy: Remedy? {
    switch self {
    case .unsupported(let found) where found.kind == .image: .sendClipNotImage
    case .damaged: .sendOrExportClip
    case .noVideoTrack(let handlers) where handlers.isEmpty: .sendClip
    case .empty, .unsupported, .truncated, .noVideoTrack: nil
    }
  }
}

extension [ContainerName] {
  /// What a clip may be.
  fileprivate var videos: String { contains(.webM) ? "MOV, MP4, 3GP or WebM video" : "MOV, MP4 or 3GP video" }
}

extension Reason {
  /// The reason for an input whose boxes or elements are rejected.
  ///
  /// - Parameter containers: those that are accepted.
  package init(_ refusal: ContainerRefusal, input: InputName, accepted containers: [ContainerName] = []) {
    self.init(
      Self.code(of: refusal), input: input, finding: refusal.finding(accepted: containers), remedy: refusal.remedy,
      byteOffset: refusal.offset)
  }

  /// The reason for a file that is not a photo of an accepted format.
  package init(unsupportedPhoto found: FileSignature, accepted: [PhotoFormat]) {
    let formats = accepted.map(\.name).joined(separator: ", ")
    // Bytes in front of it, or a brand that is not read.
    let isAccepted = accepted.contains { found.name.hasSuffix(" \($0.name) image") }
    self.init(
      .unsupportedContainer, input: .photo,
      finding: isAccepted
        ? "the file looks like \(found.name), but does not begin like a photo of an accepted format (\(formats))"
        : "the file is \(found.name), not a photo of an accepted format (\(formats))",
      remedy: found.kind == .video ? .sendPhotoNotClip : nil)
  }

  /// The reason for a file that is neither a clip nor a photo, where both are accepted.
  ///
  /// - Parameters:
  ///   - containers: the containers that clips may have.
  ///   - formats: the formats that photos may have.
  package init(
    unsupportedMedium start: [UInt8], accepted containers: [ContainerName] = [],
    photos formats: [PhotoFormat] = PhotoFormat.usual
  ) {
    guard !start.isEmpty else {
      self.init(.emptyFile, input: nil, finding: "the file is empty", remedy: .sendClipOrPhoto)
      return
    }
    let formats = formats.map(\.name).joined(separator: ", ")
    self.init(
      .unsupportedContainer, input: nil,
      finding: "the file is \(FileSignature(start).name), neither a \(containers.videos) nor a photo (\(formats)), "
        + "regardless of its name", remedy: .exportClipOrPhoto)
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
