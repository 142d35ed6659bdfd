import Blobs
import ISOBaseMedia
import MediaProcess
import Model
import Platform

/// The staged files of the outputs of one mutation, by role.
struct StagedOutputs: Sendable {
  private let blobs: FolderBlobStore
  private let staged: [Role: NoncopyableBox<StagedBlob>]
  let files: [Role: OpenFile]

  init(_ roles: [Role], in blobs: FolderBlobStore) throws(MediaFailure) {
    var staged: [Role: NoncopyableBox<StagedBlob>] = [:]
    var files: [Role: OpenFile] = [:]
    do {
      for role in roles {
        let blob = try blobs.stage()
        files[role] = blob.file
        staged[role] = NoncopyableBox(blob)
      }
    } catch {
      throw MediaFailure(.unavailable, "\(error)")
    }
    (self.blobs, self.staged, self.files) = (blobs, staged, files)
  }

  /// Publishes the outputs, reads them again, checks the movies strictly, and removes them.
  func publish(_ outputs: [OutputFacts]) throws(MediaFailure) -> Outcome {
    do {
      for facts in outputs {
        guard let sealed = try staged[facts.role]?.take()?.seal(writtenElsewhere: true) else {
          return Outcome(depth: .composed, ending: .violated("\(facts.role.rawValue) is not a planned output"))
        }
        try blobs.publish(sealed)
        defer { _ = try? blobs.remove(sealed.hash) }
        if let damage = try blobs.damage(of: sealed.hash, bytes: facts.bytes) {
          return Outcome(depth: .composed, ending: .violated("\(facts.role.rawValue) is \(damage)"))
        }
        if facts.type == "video/mp4", let finding = try Self.finding(in: sealed) {
          return Outcome(depth: .composed, ending: .violated("\(facts.role.rawValue) has \(finding)"))
        }
      }
      return Outcome(depth: .published, ending: .accepted)
    } catch {
      throw MediaFailure(.unavailable, "\(error)")
    }
  }

  private static func finding(in movie: SealedBlob) throws -> String? {
    try MovieCheck.finding(size: movie.bytes) { offset, count in try movie.bytes(count: count, at: offset) }
  }
}
