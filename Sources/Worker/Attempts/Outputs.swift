import Blobs
import Crypto
import MediaProcess
import Model
import Platform
import Store

/// The staged files of the outputs, by role.
struct Outputs: Sendable {
  private let staged: [Role: (blob: NoncopyableBox<StagedBlob>, file: OpenFile)]
  private let blobs: any BlobStore

  /// Creates a staged file for each output.
  init(_ roles: [Role], in blobs: any BlobStore) throws(BlobError) {
    var staged: [Role: (blob: NoncopyableBox<StagedBlob>, file: OpenFile)] = [:]
    for role in roles {
      let blob = try blobs.stage()
      let file = blob.file
      staged[role] = (NoncopyableBox(blob), file)
    }
    self.staged = staged
    self.blobs = blobs
  }

  /// The files for writing, by role.
  var files: [Role: OpenFile] { staged.mapValues(\.file) }

  /// Hashes the written files and prepares their publication, before any transaction is open: all at the same time, as each waits for the
  /// disk or for another machine.
  func seal(
    _ facts: [OutputFacts],
    _ asset: @escaping @Sendable (OutputFacts, SealedBlob) -> NewAsset = { NewAsset($0, content: $1) }
  ) async throws -> [NewAsset] {
    var assets: [Int: NewAsset] = [:]
    try await facts.indices.forEach(concurrently: facts.count) { [staged, blobs] index in
      try await onThread("seal") { () throws -> NewAsset? in
        guard let blob = staged[facts[index].role]?.blob.take() else { return nil }
        let content = try blob.seal(writtenElsewhere: true)
        let made = asset(facts[index], content)
        if made.isInline { try content.load() } else { try blobs.prepare(content) }
        return made
      }
    } receive: { index, made in
      assets[index] = made
    }
    return facts.indices.compactMap { assets[$0] }
  }
}

/// Everything that determines what a set of outputs shows, except the sources.
struct Recipe<Plan: Encodable & Revised>: Encodable {
  let definition: SHA256Digest
  /// The versions of the libraries that the outputs depend on.
  let libraries: [String: String]
  let plan: Plan
  /// The revision of the plan's type; nil: the first.
  let revision: Int?

  init(definition: SHA256Digest, plan: Plan, libraries: [String: String]) {
    self.definition = definition
    self.plan = plan
    self.libraries = libraries.filter { plan.depends(on: $0.key) }
    revision = Plan.revision
  }

  /// The hash of the recipe. Equal sources and equal recipes give outputs that show the same.
  var hash: SHA256Digest {
    get throws { SHA256.digest(of: try JSON.canonical(JSON.encode(self))) }
  }
}

/// A type of plan whose outputs can change between versions of the program.
protocol Revised {
  /// A number that grows with each change of the program by which an equal plan gives other pictures, sound or structure, so that
  /// stored outputs are worth making again; nil: there was none. Another encoder of equal pictures is no such change.
  static var revision: Int? { get }

  /// Whether its outputs depend on a library, by the name that a version has.
  func depends(on library: String) -> Bool
}

extension Plan: Revised {
  /// 2: the samples of copied clips have lengths instead of start codes. 3: a tick shows the nearest frame, stills are as bright as the
  /// video, and sound of one channel as loud as its source. 4: colours lie where luma is, whatever a frame is scaled to; clips whose sound
  /// differs by up to two seconds are aligned; copied sound ends with the picture. 5: sound starts with the mean of the pictures.
  /// 6: saturated colours of high dynamic range are nearer to their formula. 7: encoded clips have the times of their source, encoded sound
  /// keeps its own and is not overdriven, clips are aligned as far as they allow, and colours of PQ are computed.
  static var revision: Int? { 7 }

  func depends(on library: String) -> Bool { library != AudioPlan.loudnessLibrary || setsLoudness }
}

extension PhotoPlan: Revised {
  /// 2: photos of high dynamic range are mapped however they are written, and PNG's own description of colours counts. 3: HEIC without an
  /// orientation of its own is turned by Exif. 4: saturated colours of high dynamic range are nearer to their formula. 5: `imir` exchanges
  /// the sides that it names, and transparency of each tile counts. 6: inks are inverted with Adobe's segment or without, premultiplied
  /// colours are blended once, and shadows of high dynamic range are as dark as they are.
  static var revision: Int? { 6 }

  func depends(on library: String) -> Bool { library != AudioPlan.loudnessLibrary }
}
