internal import Blobs
internal import Crypto
internal import ISOBaseMedia
internal import Model
internal import Store

extension SubmissionMedia<JudgedFile> {
  /// Returns the files as assets; throws `MediaRefusal` if one is refused, or both clips of a moment are the same file.
  func sources() throws(MediaRefusal) -> [NewAsset] {
    switch self {
    case .moment(let clips):
      if let front = clips[.front], let back = clips[.back], front.content.hash == back.content.hash {
        throw MediaRefusal(reasons: [.sameFileTwice])
      }
      return try Self.sources(Camera.allCases.compactMap { camera in clips[camera].map { (Role.source(camera), $0) } })
    case .clip(let clip): return try Self.sources([(.sourceClip, clip)])
    case .photos(let photos): return try Self.sources(photos.map { (Role.sourcePhoto, $0) })
    }
  }

  private static func sources(_ files: [(Role, JudgedFile)]) throws(MediaRefusal) -> [NewAsset] {
    var sources: [NewAsset] = []
    var reasons: [Reason] = []
    for (index, (role, file)) in files.enumerated() {
      switch file.type {
      case .success(let type):
        let place = role == .sourcePhoto ? index : 0
        sources.append(NewAsset(role: role, type: type, content: file.content, place: place))
      case .failure(let refusal):
        var reason = refusal.reason
        if role == .sourcePhoto { reason.photo = index }
        reasons.append(reason)
      }
    }
    guard reasons.isEmpty else { throw MediaRefusal(reasons: reasons) }
    return sources
  }
}
