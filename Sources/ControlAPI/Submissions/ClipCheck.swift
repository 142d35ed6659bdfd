internal import Blobs
internal import ISOBaseMedia
internal import Model

/// What a clip's container says at the end of its upload: cheap to ask, and before anything is stored.
enum ClipCheck {
  /// It may be a clip, of this media type.
  case sound(type: String)
  case refused(Reason)

  init(_ blob: SealedBlob, input: InputName, limits: Limits) throws(BlobError) {
    let result = try ContainerWalker.examine(size: blob.bytes) { offset, count throws(BlobError) in
      try blob.bytes(count: count, at: offset)
    }
    switch result {
    case .success(let structure):
      guard let name = ContainerName(rawValue: structure.family.rawValue), limits.containers.contains(name) else {
        let allowed = limits.containers.map { $0.rawValue.uppercased() }.joined(separator: ", ")
        let found = structure.family.rawValue.uppercased()
        self = .refused(
          Reason(.unsupportedContainer, input: input, detail: "The file is \(found); accepted are \(allowed)."))
        return
      }
      self = .sound(type: Self.mediaType(of: structure.family))
    case .failure(let refusal):
      self = .refused(
        Reason(Self.code(of: refusal), input: input, detail: refusal.description, byteOffset: refusal.offset))
    }
  }

  private static func mediaType(of family: ContainerStructure.Family) -> String {
    switch family {
    case .mov: "video/quicktime"
    case .mp4: "video/mp4"
    case .threeGP: "video/3gpp"
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
