package import Model

extension Reason {
  /// A refusal by an input's boxes.
  package init(_ refusal: ContainerRefusal, input: InputName) {
    self.init(Self.code(of: refusal), input: input, detail: refusal.description, byteOffset: refusal.offset)
  }

  /// A refusal by what the first bytes of a file say, which is no photo of a format that is taken.
  package init(unsupportedPhoto found: FileSignature, taken: [PhotoFormat]) {
    let formats = taken.map(\.name).joined(separator: ", ")
    let remedy = found.kind == .video ? "Send the photo, not a clip." : "Export the photo as JPEG."
    self.init(
      .unsupportedContainer, input: .photo,
      detail: "The file is \(found.name), not a photo of a format that is taken (\(formats)). \(remedy)")
  }

  /// A refusal by the first bytes of a file, which may be meant as a clip or as a photo and is neither.
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
        + "whatever its name says. Export the clip as MP4, or the photo as JPEG.")
  }

  private static func code(of refusal: ContainerRefusal) -> ReasonCode {
    switch refusal {
    case .empty: .emptyFile
    case .unsupported: .unsupportedContainer
    // Boxes that contradict each other are, of what phones and networks do, a file that was not written to its end.
    case .truncated, .damaged: .truncatedContainer
    case .noVideoTrack: .noVideoStream
    }
  }
}
