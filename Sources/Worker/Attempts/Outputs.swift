import Blobs
import Model
import Store

/// The files that a run writes, by role: without names until they are published.
struct Outputs {
  private let staged: [Role: Box]

  // A dictionary cannot hold a value with a single owner: each file lies in a box of its own.
  private final class Box {
    var blob: StagedBlob?
    let descriptor: Int32

    init(_ blob: consuming StagedBlob) {
      descriptor = blob.descriptor
      self.blob = consume blob
    }

    func seal() throws(BlobError) -> SealedBlob? {
      guard let blob = blob.take() else { return nil }
      return try blob.seal(writtenElsewhere: true)
    }
  }

  /// A file for each output.
  init(_ roles: [Role], in blobs: any BlobStore) throws(BlobError) {
    var staged: [Role: Box] = [:]
    for role in roles { staged[role] = Box(try blobs.stage()) }
    self.staged = staged
  }

  /// To write to, by role.
  var descriptors: [Role: Int32] { staged.mapValues(\.descriptor) }

  /// Ends writing: hashes the files and makes them durable, before any transaction is open.
  func seal(
    _ facts: [OutputFacts], _ asset: (OutputFacts, SealedBlob) -> NewAsset = { NewAsset($0, content: $1) }
  ) throws(BlobError) -> [NewAsset] {
    var assets: [NewAsset] = []
    for facts in facts {
      guard let content = try staged[facts.role]?.seal() else { continue }
      try content.synchronize()
      assets.append(asset(facts, content))
    }
    return assets
  }
}
