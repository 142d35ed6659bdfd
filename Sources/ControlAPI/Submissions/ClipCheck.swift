package import Blobs
internal import ISOBaseMedia
package import Model

/// Looks at a clip's container at the end of its upload: cheap, and before anything is stored.
package enum ClipCheck {
  /// Why the clip is refused, or nil.
  package static func reason(
    against blob: SealedBlob, input: InputName, limits: Limits
  ) throws(BlobError) -> Reason? {
    let result = try ContainerWalker.examine(size: blob.bytes) { offset, count throws(BlobError) in
      try blob.bytes(count: count, at: offset)
    }
    switch result {
    case .success(let structure):
      guard let name = ContainerName(rawValue: structure.family.rawValue), limits.containers.contains(name) else {
        let allowed = limits.containers.map { $0.rawValue.uppercased() }.joined(separator: ", ")
        return Reason(
          .unsupportedContainer, input: input,
          detail: "The file is \(structure.family.rawValue.uppercased()); accepted are \(allowed).")
      }
      return nil
    case .failure(let refusal):
      return Reason(code(of: refusal), input: input, detail: refusal.description, byteOffset: refusal.offset)
    }
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
