/// What is not as it should be. The codes do not change; programs may rely on them.
package enum FindingCode: String, Encodable, Sendable, Hashable, CaseIterable {
  /// The row of a blob has no file, and no bytes of its own.
  case blobMissing = "blob_missing"
  /// A file is not what its name, the hash of its content, says.
  case blobCorrupt = "blob_corrupt"
  /// The bytes in the row of a blob are not what its hash says.
  case inlineCorrupt = "inline_corrupt"
  /// A submission's file is not there.
  case sourceMissing = "source_missing"
  /// A submission's file is not what its hash says.
  case sourceCorrupt = "source_corrupt"
  /// The row of a blob tells another length than its bytes have.
  case blobSize = "blob_size"
  /// An asset names a blob that has no row.
  case blobRowMissing = "blob_row_missing"
  /// Nothing refers to a blob, and nothing has released it.
  case blobUnreferenced = "blob_unreferenced"
  /// A file in the blob store has no row.
  case orphanFile = "stray_file"
  /// A file was begun by a process that has died.
  case stagedFile = "staged_file"
  /// Something lies in the folder of the blobs that is none.
  case foreignFile = "foreign_file"
  /// Nobody refers to a set of assets, it was not replaced, and it is not kept on purpose.
  case setUnreferenced = "set_unreferenced"
  /// A set has no assets.
  case setEmpty = "set_empty"
  /// A set counts as replaced, and somebody still refers to it.
  case setRetiredInUse = "set_retired_in_use"
  /// The definition that made a set cannot be read: whether the set is whole cannot be told, nor can it be made again.
  case definitionUnreadable = "definition_unreadable"
  /// A set lacks assets that its definition makes, or that a submission brings.
  case assetMissing = "asset_missing"
  /// An asset tells another length than its blob.
  case assetSize = "asset_size"
  /// A post or an image is ready and has no set of assets.
  case mediaMissing = "media_missing"
  /// A post or an image waits for its media, or tells of kept sources, and has none.
  case sourcesMissing = "sources_missing"
  /// A media file cannot be decoded.
  case mediaUndecodable = "media_undecodable"
  /// A video that was made here breaks the rules of its format, which strict players do not forgive.
  case mediaInvalid = "media_invalid"
  /// A media file has other properties than its asset tells.
  case mediaProperties = "media_properties"
}
