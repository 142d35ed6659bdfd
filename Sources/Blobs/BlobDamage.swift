/// In which way a blob is not what its row and its name say, by its name in metrics and in the database.
package enum BlobDamage: String, Sendable, Hashable, CaseIterable {
  /// There is no file.
  case missing
  /// The file is too short.
  case truncated
  /// Its bytes are others, or cannot be read.
  case corrupt
}
