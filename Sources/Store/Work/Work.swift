package import Blobs
package import Crypto
package import Model

/// Everything an attempt needs to know of what it works for.
package struct Work: Sendable {
  /// Both clips of a moment.
  package struct Moment: Sendable {
    package let foreground: Camera
    package let definition: Definition
    /// The hashes of the sources.
    package let front: SHA256Digest
    package let back: SHA256Digest
  }

  /// One clip by itself.
  package struct Clip: Sendable {
    package let definition: Definition
    /// The hash of the source.
    package let clip: SHA256Digest
  }

  /// The photos of a post, or one image.
  package struct Photos: Sendable {
    package let definition: PhotoDefinition
    /// The hashes of the sources, in the order in which they were submitted.
    package let photos: [SHA256Digest]
  }

  /// What is known of media that are made again.
  package struct Reprocessing: Sendable {
    /// Of the run, when the work was read.
    package let state: ReprocessRun.State
    let keepsOld: Bool
    let isForced: Bool
    /// What readers see; nil if there was never anything.
    let currentSet: Int64?
    let recipe: SHA256Digest?
    /// Of the current set, those that do not lie in the database.
    let blobs: [SHA256Digest]
  }

  /// What is to be worked on.
  package enum Content: Sendable {
    case moment(Moment)
    case clip(Clip)
    case photos(Photos)
  }

  package let subject: Subject
  /// The hash of the definition.
  package let definitionHash: SHA256Digest
  package let content: Content
  /// The lengths of the sources, by their hashes.
  let sources: [SHA256Digest: Int64]
  /// Whether a media process ended while it worked on the same inputs: they work alone.
  package internal(set) var isSuspect = false
  /// Nil for the first outputs.
  package internal(set) var reprocessing: Reprocessing?

  /// Names the inputs, whatever they came with: crashes are counted by it.
  package var inputs: SHA256Digest {
    switch content {
    case .moment(let moment): SHA256.digest(of: moment.front.bytes + moment.back.bytes)
    case .clip(let clip): clip.clip
    case .photos(let photos): SHA256.digest(of: photos.photos.flatMap(\.bytes))
    }
  }

  /// Whether the subject has the outputs that a recipe gives, all of them where it looks for them.
  package func hasOutputs(of recipe: SHA256Digest, in store: any BlobStore) -> Bool {
    guard let reprocessing, !reprocessing.isForced, reprocessing.recipe == recipe else { return false }
    return reprocessing.blobs.allSatisfy { (try? store.contains($0)) == true }
  }

  /// How long one attempt may take; in the background there is no hurry.
  package func deadline(_ seconds: Int) -> Duration {
    .seconds(reprocessing == nil ? seconds : max(seconds, ReprocessJob.deadlineSeconds))
  }

  /// Whether the files as submitted stay once the outputs are there.
  var keepsSources: Bool {
    switch content {
    case .moment(let moment): moment.definition.keepSources
    case .clip(let clip): clip.definition.keepSources
    case .photos(let photos): photos.definition.keepSources
    }
  }
}
