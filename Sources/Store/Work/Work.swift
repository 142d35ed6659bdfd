package import Blobs
package import Crypto
package import Model
package import Platform

/// The input of an attempt: the subject of the job, its definition and its sources.
package struct Work: Sendable {
  /// The two clips of a moment.
  package struct Moment: Sendable {
    package let foreground: Camera
    package let definition: Definition
    /// The hashes of the sources.
    package let front: SHA256Digest
    package let back: SHA256Digest
  }

  /// A single clip.
  package struct Clip: Sendable {
    package let definition: Definition
    /// The hash of the source.
    package let clip: SHA256Digest
  }

  /// The photos of a post, or one image.
  package struct Photos: Sendable {
    package let definition: PhotoDefinition
    /// The hashes of the sources, in the order of submission.
    package let photos: [SHA256Digest]
  }

  /// The current outputs of a subject that is reprocessed, and the options of the run.
  package struct RunItem: Sendable {
    /// The state of the run when the work was read.
    package let state: RunState
    let keepsOld: Bool
    let isForced: Bool
    /// The set that readers see; nil if the subject never had one.
    let currentSet: Int64?
    let recipe: SHA256Digest?
    /// The blobs of the current set that are stored as files.
    let blobs: [SHA256Digest]
  }

  /// The first look of a post.
  package struct Look: Sendable {
    package let audience: LookAudience
    /// The job that makes the outputs.
    package let composition: PublicID
  }

  /// The sources by the type of the submission.
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
  /// Whether an attempt at the same inputs crashed or was interrupted, so that this attempt runs isolated.
  package internal(set) var isSuspect = false
  /// A reason for each quarantined input; if there is one, no attempt is made.
  package internal(set) var refusals: [Reason] = []
  /// Nil for an attempt at the first outputs.
  package internal(set) var reprocessing: RunItem?
  /// Nil unless the attempt makes a first look.
  package internal(set) var look: Look?

  /// Whether the current outputs were made by this recipe and all of their files exist.
  ///
  /// - Throws: if the storage cannot say whether a file exists.
  package func hasOutputs(of recipe: SHA256Digest, in store: any BlobStore) throws(BlobError) -> Bool {
    guard let reprocessing, !reprocessing.isForced, reprocessing.recipe == recipe else { return false }
    for blob in reprocessing.blobs where try !store.contains(blob) { return false }
    return true
  }

  /// Who sees the first look, as the definition says it.
  var audience: LookAudience {
    switch content {
    case .moment(let moment): MediaDefinition.clips(moment.definition).look
    case .clip(let clip): MediaDefinition.clips(clip.definition).look
    case .photos(let photos): MediaDefinition.photos(photos.definition).look
    }
  }

  /// Whether the sources stay after the outputs are published.
  var keepsSources: Bool {
    switch content {
    case .moment(let moment): moment.definition.keepSources
    case .clip(let clip): clip.definition.keepSources
    case .photos(let photos): photos.definition.keepSources
    }
  }
}

/// The source files that an attempt reads.
extension Work {
  /// Opens a source. Throws `.missing` if the file does not exist, and `.damaged` if its bytes are not the submitted ones: no
  /// verdict rests on them.
  package func open(_ source: SHA256Digest, in blobs: any BlobStore) throws(BlobError) -> Descriptor {
    guard let bytes = sources[source] else { throw .missing(source) }
    do { return try blobs.openVerified(source, bytes: bytes) } catch {
      // A read error of one file is damage of that file, not an outage of the storage.
      guard case .system = error, let damage = error.damage else { throw error }
      throw .damaged(source, damage)
    }
  }

  /// Reads all sources completely once more, and throws `.damaged` for one whose hash is wrong: then the storage is the cause of
  /// a failed attempt, not the submitted media.
  package func checkSources(in blobs: any BlobStore) throws(BlobError) {
    for (hash, bytes) in sources.sorted(by: { $0.key < $1.key }) {
      if let damage = try blobs.damage(of: hash, bytes: bytes) { throw .damaged(hash, damage) }
    }
  }
}
