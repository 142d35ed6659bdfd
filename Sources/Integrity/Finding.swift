package import Crypto
package import Model
package import Store

/// One inconsistency that a verification found.
package struct Finding: Sendable, Hashable {
  package let code: FindingCode
  package let object: FindingObject
  /// A description of the inconsistency.
  package let detail: String
  /// The posts and images whose media are affected.
  package let subjects: [Subject]
  package private(set) var severity: Severity

  package init(
    _ code: FindingCode, _ object: FindingObject, _ severity: Severity, detail: String, subjects: [Subject] = []
  ) {
    self.code = code
    self.object = object
    self.detail = detail
    self.subjects = subjects
    self.severity = severity
  }

  /// Returns a copy of the finding with severity `lost` if the sources of one of its damaged subjects are lost: outputs
  /// cannot be made again without sources.
  package func escalated(lostSourcesOf lost: Set<Subject>) -> Finding {
    guard severity == .damaged, subjects.contains(where: lost.contains) else { return self }
    var copy = self
    copy.severity = .lost
    return copy
  }

  /// The action that an operator can take.
  package var remedy: String {
    switch (severity, code) {
    case (_, .tableBroken):
      "restore a backup with 'take5 restore': until then nothing else of the store can be relied on"
    case (_, .checksumFailures):
      "find the table with 'take5 verify --deep' and restore a backup with 'take5 restore'; if it names none, an index is "
        + "broken, or the page has been replaced: run REINDEX DATABASE, and then SELECT pg_stat_reset()"
    case (_, .foreignFile): "take5 did not create this file: find out its origin and remove it"
    case (_, .definitionUnreadable):
      "its outputs are still served; make them again with the version that stored the definition, or with "
        + "'take5 reprocess' and another definition"
    case (_, .uploadFinished):
      "start a service on this machine: within half a minute it gives the post the bytes, or asks their client for them"
    case (.orphan, .blobMissing), (.orphan, .blobCorrupt), (.orphan, .inlineCorrupt):
      "only replaced media refer to it: remove them with 'take5 verify --repair'"
    case (.orphan, _): "remove it with 'take5 gc'"
    case (.fault, _): "repair it with 'take5 verify --repair'"
    case (.damaged, _): "make it again from the sources with 'take5 verify --repair'"
    case (.lost, .blobMissing), (.lost, .blobCorrupt), (.lost, .sourceMissing), (.lost, .sourceCorrupt):
      "restore the file from a backup of the blobs; without a backup, delete the posts and images that refer to it"
    case (.lost, _): "restore it from a backup; without a backup, delete the posts and images that refer to it"
    }
  }
}

extension Finding: Encodable {
  private enum CodingKeys: CodingKey {
    case code
    case severity
    case object
    case detail
    case subjects
    case remedy
  }

  /// Encodes the finding for `verify --json`.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(code, forKey: .code)
    try container.encode(severity, forKey: .severity)
    try container.encode(object, forKey: .object)
    try container.encode(detail, forKey: .detail)
    try container.encode(subjects.map(FindingObject.init), forKey: .subjects)
    try container.encode(remedy, forKey: .remedy)
  }
}

extension FindingObject {
  /// Creates the object for a post or an image.
  package init(_ subject: Subject) {
    switch subject {
    case .post(let id): self = .post(id)
    case .image(let id): self = .image(id)
    }
  }
}

/// The severity of a finding, by the possible repair.
package enum Severity: String, Encodable, Sendable, Hashable, CaseIterable {
  /// Nothing refers to the object: it only occupies space.
  case orphan = "litter"
  /// A row is wrong, and the right value follows from other data.
  case fault
  /// Outputs are damaged that can be made again from their sources.
  case damaged
  /// The object can only be restored from a backup.
  case lost
}

/// The type of an inconsistency. The codes are stable: programs may rely on them.
package enum FindingCode: String, Encodable, Sendable, Hashable, CaseIterable {
  /// The row of a blob has neither a file nor inline content.
  case blobMissing = "blob_missing"
  /// The content of a file does not have the hash in its name.
  case blobCorrupt = "blob_corrupt"
  /// The inline content of a blob does not have the blob's hash.
  case inlineCorrupt = "inline_corrupt"
  /// The file of a source does not exist.
  case sourceMissing = "source_missing"
  /// The content of the file of a source does not have its hash.
  case sourceCorrupt = "source_corrupt"
  /// The row of a blob has another length than the content.
  case blobSize = "blob_size"
  /// An asset refers to a blob that has no row.
  case blobRowMissing = "blob_row_missing"
  /// Nothing refers to a blob, and it was not released.
  case blobUnreferenced = "blob_unreferenced"
  /// A file in the blob store has no row.
  case orphanFile = "stray_file"
  /// A staged file belongs to a process that has ended.
  case stagedFile = "staged_file"
  /// The folder of the blobs contains a file that is not a blob.
  case foreignFile = "foreign_file"
  /// No post or image refers to a set of assets, it was not replaced, and it is not kept.
  case setUnreferenced = "set_unreferenced"
  /// A set has no assets.
  case setEmpty = "set_empty"
  /// A set is marked as retired, but a post or an image refers to it.
  case setRetiredInUse = "set_retired_in_use"
  /// The definition of a set does not decode, so that the set can be neither checked for completeness nor made again.
  case definitionUnreadable = "definition_unreadable"
  /// A set lacks assets that its definition makes, or a source.
  case assetMissing = "asset_missing"
  /// The row of an asset has another length than its blob.
  case assetSize = "asset_size"
  /// A post or an image is ready but has no set of assets.
  case mediaMissing = "media_missing"
  /// A post or an image is processing, or has kept its sources, but their set does not exist.
  case sourcesMissing = "sources_missing"
  /// A post or an image is processing, or an item of a run has started, and no job is left that ends it.
  case jobMissing = "job_missing"
  /// A post awaits an upload that this machine has given to it already.
  case uploadFinished = "upload_finished"
  /// Pages of a table of the database cannot be read.
  case tableBroken = "table_broken"
  /// The server has read pages with a wrong checksum.
  case checksumFailures = "checksum_failures"
  /// A media file cannot be decoded.
  case mediaUndecodable = "media_undecodable"
  /// An output video violates its format in a way that strict players reject.
  case mediaInvalid = "media_invalid"
  /// A media file has other properties than the row of its asset.
  case mediaProperties = "media_properties"
  /// A counter of a user, a post, a place, a collection or the map is not the number of the rows that it counts.
  case countWrong = "count_wrong"
  /// A friendship or a block lacks the row of the other side.
  case relationOneSided = "relation_one_sided"
  /// A relation refers to a post that does not exist.
  case relationDangling = "relation_dangling"
  /// A spelling by which names are found is missing, or no user has it.
  case spellingWrong = "spelling_wrong"
}

/// The object of a finding.
package enum FindingObject: Sendable, Hashable {
  case blob(SHA256Digest)
  /// A file, by its path relative to the folder of the blob store.
  case file(String)
  case set(PublicID)
  case definition(SHA256Digest)
  case asset(PublicID)
  case post(PublicID)
  case image(PublicID)
  /// What a check of a room has found, by its kind and its id.
  case row(kind: String, id: String)
  /// A database by its name.
  case database(String)
  /// A table of the database.
  case table(String)
  /// A run of `reprocess`.
  case run(PublicID)

  /// The name of the kind of the object.
  package var kind: String {
    switch self {
    case .blob: "blob"
    case .file: "file"
    case .set: "set"
    case .definition: "definition"
    case .asset: "asset"
    case .post: "post"
    case .image: "image"
    case .row(let kind, _): kind
    case .database: "database"
    case .table: "table"
    case .run: "run"
    }
  }

  /// The identifier of the object, unique within its kind.
  package var id: String {
    switch self {
    case .blob(let hash), .definition(let hash): hash.hex
    case .file(let path): path
    case .set(let id), .asset(let id), .post(let id), .image(let id), .run(let id): id.description
    case .row(_, let id): id
    case .database(let name), .table(let name): name
    }
  }
}

extension FindingObject: Encodable {
  private enum CodingKeys: CodingKey {
    case kind
    case id
  }

  /// Encodes the kind and the id.
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(kind, forKey: .kind)
    try container.encode(id, forKey: .id)
  }
}
