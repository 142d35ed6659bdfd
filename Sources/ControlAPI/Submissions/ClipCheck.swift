internal import Blobs
internal import ISOBaseMedia
internal import Model

/// What a clip's container says at the end of its upload: cheap to ask, and before anything is stored.
enum ClipCheck {
  /// It may be a clip, of this media type.
  case valid(type: String)
  case refused(Reason)

  init(_ blob: SealedBlob, input: InputName, limits: Limits) throws(BlobError) {
    let result = try ContainerWalker.examine(size: blob.bytes) { offset, count throws(BlobError) in
      try blob.bytes(count: count, at: offset)
    }
    switch result {
    case .success(let structure):
      guard limits.containers.contains(structure.family) else {
        let allowed = limits.containers.map { $0.rawValue.uppercased() }.joined(separator: ", ")
        let found = structure.family.rawValue.uppercased()
        self = .refused(
          Reason(.unsupportedContainer, input: input, detail: "The file is \(found); accepted are \(allowed)."))
        return
      }
      self = .valid(type: Self.mediaType(of: structure.family))
    case .failure(let refusal):
      self = .refused(Reason(refusal, input: input))
    }
  }

  private static func mediaType(of family: ContainerName) -> String {
    switch family {
    case .mov: "video/quicktime"
    case .mp4: "video/mp4"
    case .threeGP: "video/3gpp"
    }
  }
}
