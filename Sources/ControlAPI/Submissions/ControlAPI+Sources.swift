internal import Blobs
internal import Crypto
internal import HTTPServer
internal import Model
internal import Store

extension ControlAPI {
  /// Both clips as assets to be kept; throws a problem with the reasons when containers or hashes speak against them.
  static func checkedMoment(_ clips: [Camera: SealedBlob], limits: Limits) throws -> [NewAsset] {
    if let front = clips[.front], let back = clips[.back], front.hash == back.hash {
      throw refused([.sameFileTwice])
    }
    var sources: [NewAsset] = []
    var reasons: [Reason] = []
    for camera in Camera.allCases {
      guard let clip = clips[camera] else { continue }
      switch try ClipCheck(clip, input: InputName(camera), limits: limits) {
      case .valid(let type): sources.append(NewAsset(role: .source(camera), type: type, content: clip))
      case .refused(let reason): reasons.append(reason)
      }
    }
    guard reasons.isEmpty else { throw refused(reasons) }
    return sources
  }

  /// A clip by itself as an asset to be kept; throws a problem with the reason when its container speaks against it.
  static func checkedClip(_ clip: SealedBlob, limits: Limits) throws -> [NewAsset] {
    switch try ClipCheck(clip, input: .clip, limits: limits) {
    case .valid(let type): return [NewAsset(role: .sourceClip, type: type, content: clip)]
    case .refused(let reason): throw refused([reason])
    }
  }

  /// Photos as assets to be kept; throws a problem with the reasons when their first bytes speak against them.
  static func checkedPhotos(_ photos: [SealedBlob], limits: PhotoLimits) throws -> [NewAsset] {
    var sources: [NewAsset] = []
    var reasons: [Reason] = []
    for (place, photo) in photos.enumerated() {
      switch try PhotoCheck(photo, limits: limits) {
      case .valid(let type):
        sources.append(NewAsset(role: .sourcePhoto, type: type, content: photo, place: place))
      case .refused(var reason):
        reason.photo = place
        reasons.append(reason)
      }
    }
    guard reasons.isEmpty else { throw refused(reasons) }
    return sources
  }

  private static func refused(_ reasons: [Reason]) -> Problem {
    ProblemKind.mediaRejected.problem(reasons.map(\.detail).joined(separator: " "), reasons: reasons)
  }
}
