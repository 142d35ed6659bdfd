/// Why a file cannot be a clip, as far as its boxes show.
package enum ContainerRefusal: Error, Sendable, Hashable {
  /// It has no bytes.
  case empty
  /// It is something else.
  case unsupported(FileSignature)
  /// It ends before its boxes say, or lacks one that every whole file has.
  case truncated(finding: String, offset: Int64)
  /// Its boxes contradict each other.
  case damaged(finding: String, offset: Int64)
  /// It has no video track: the handlers that it has.
  case noVideoTrack(handlers: [BoxType])

  /// Where in the file, in bytes from its start.
  package var offset: Int64? {
    switch self {
    case .truncated(_, let offset), .damaged(_, let offset): offset
    case .empty, .unsupported, .noVideoTrack: nil
    }
  }
}

extension ContainerRefusal: CustomStringConvertible {
  /// What was found and what the user can do about it.
  package var description: String {
    switch self {
    case .empty:
      "The file is empty. Send the clip itself; the app may have sent it before it was written."
    case .unsupported(let found):
      "The file is \(found.name), not a MOV, MP4 or 3GP video, whatever its name says. "
        + (found.kind == .picture ? "Send the clip, not a picture." : "Export the clip as MP4.")
    case .truncated(let finding, let offset):
      "The file is not whole: \(finding) (at byte \(offset)). Send the clip again after it was saved completely."
    case .damaged(let finding, let offset):
      "The file is damaged: \(finding) (at byte \(offset)). Send the clip again, or export it anew."
    case .noVideoTrack(let handlers) where handlers.isEmpty:
      "The file has no tracks at all. Send the clip itself."
    case .noVideoTrack(let handlers):
      "The file has no video track, only \(handlers.map { "'\($0)'" }.joined(separator: ", ")). Send the clip, not its sound."
    }
  }
}
