internal import Blobs
internal import Crypto
internal import HTTPServer
internal import ISOBaseMedia
internal import Model
internal import Store

/// The checks of uploaded media before they are stored. They read only container structure, signatures and hashes; the
/// media are decoded later, by a worker.
extension ControlAPI {
  /// Returns both clips of a moment as assets; throws `MediaRefusal` if a container is invalid or both clips are
  /// the same file.
  static func checkedMoment(_ clips: [Camera: SealedBlob], limits: Limits) throws -> [NewAsset] {
    if let front = clips[.front], let back = clips[.back], front.hash == back.hash {
      throw MediaRefusal(reasons: [.sameFileTwice])
    }
    var sources: [NewAsset] = []
    var reasons: [Reason] = []
    for camera in Camera.allCases {
      guard let clip = clips[camera] else { continue }
      switch try MediaCheck(clip: clip, input: InputName(camera), limits: limits) {
      case .valid(let type): sources.append(NewAsset(role: .source(camera), type: type, content: clip))
      case .rejected(let reason): reasons.append(reason)
      }
    }
    guard reasons.isEmpty else { throw MediaRefusal(reasons: reasons) }
    return sources
  }

  /// Returns the video of a marker as an asset; throws `MediaRefusal` if its container is invalid.
  static func checkedClip(_ clip: SealedBlob, limits: Limits) throws -> [NewAsset] {
    switch try MediaCheck(clip: clip, input: .clip, limits: limits) {
    case .valid(let type): return [NewAsset(role: .sourceClip, type: type, content: clip)]
    case .rejected(let reason): throw MediaRefusal(reasons: [reason])
    }
  }

  /// Returns photos as assets; throws `MediaRefusal` if a signature is invalid.
  static func checkedPhotos(_ photos: [SealedBlob], limits: PhotoLimits) throws -> [NewAsset] {
    var sources: [NewAsset] = []
    var reasons: [Reason] = []
    for (index, photo) in photos.enumerated() {
      switch try MediaCheck(photo: photo, limits: limits) {
      case .valid(let type):
        sources.append(NewAsset(role: .sourcePhoto, type: type, content: photo, place: index))
      case .rejected(var reason):
        reason.photo = index
        reasons.append(reason)
      }
    }
    guard reasons.isEmpty else { throw MediaRefusal(reasons: reasons) }
    return sources
  }

}

/// The media of a submission are rejected for what their containers show.
struct MediaRefusal: Error, Sendable, Hashable {
  let reasons: [Reason]

  var problem: Problem {
    ProblemKind.mediaRejected.problem(reasons.map(\.detail).joined(separator: " "), reasons: reasons)
  }
}

/// The result of checking one uploaded file.
private enum MediaCheck {
  /// The file may be decodable; `type` is its media type.
  case valid(type: String)
  case rejected(Reason)

  /// Checks the structure of a clip's container.
  init(clip: SealedBlob, input: InputName, limits: Limits) throws(BlobError) {
    let result = try ContainerWalker.examine(size: clip.bytes) { offset, count throws(BlobError) in
      try clip.bytes(count: count, at: offset)
    }
    switch result {
    case .success(let structure):
      guard limits.containers.contains(structure.family) else {
        let allowed = limits.containers.map { $0.rawValue.uppercased() }.joined(separator: ", ")
        let found = structure.family.rawValue.uppercased()
        self = .rejected(
          Reason(.unsupportedContainer, input: input, detail: "The file is \(found); accepted are \(allowed)."))
        return
      }
      self = .valid(type: Self.mediaType(of: structure.family))
    case .failure(let refusal):
      self = .rejected(Reason(refusal, input: input))
    }
  }

  /// Checks the signature of a photo.
  init(photo: SealedBlob, limits: PhotoLimits) throws(BlobError) {
    let start =
      photo.bytes == 0 ? [] : try photo.bytes(count: Int(min(photo.bytes, Int64(FileSignature.length))), at: 0)
    guard !start.isEmpty else {
      self = .rejected(Reason(.emptyFile, input: .photo, finding: "the file is empty", remedy: .sendPhoto))
      return
    }
    guard let format = PhotoFormat(start: start), limits.formats.contains(format) else {
      self = .rejected(Reason(unsupportedPhoto: FileSignature(start), accepted: limits.formats))
      return
    }
    self = .valid(type: "image/\(format == .heif ? "heic" : format.rawValue)")
  }

  private static func mediaType(of family: ContainerName) -> String {
    switch family {
    case .mov: "video/quicktime"
    case .mp4: "video/mp4"
    case .threeGP: "video/3gpp"
    }
  }
}
