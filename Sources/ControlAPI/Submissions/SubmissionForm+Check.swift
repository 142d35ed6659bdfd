internal import Blobs
internal import Model

extension SubmissionForm {
  /// Why its clips are refused, as far as their containers and their hashes tell; empty when they are not.
  func reasons(limits: Limits) throws(BlobError) -> [Reason] {
    if let front = clips[.front], let back = clips[.back], front.hash == back.hash { return [.sameFileTwice] }
    var reasons: [Reason] = []
    for camera in Camera.allCases {
      guard let clip = clips[camera] else { continue }
      if let reason = try ClipCheck.reason(against: clip, input: InputName(camera), limits: limits) {
        reasons.append(reason)
      }
    }
    return reasons
  }
}
