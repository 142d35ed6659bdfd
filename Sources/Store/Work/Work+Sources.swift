package import Blobs
package import Crypto
package import Platform

/// The files as they were submitted, which an attempt reads.
extension Work {
  /// Opens a source; `.damaged` or `.missing` if its file has not the length that it had when it was submitted.
  package func open(_ source: SHA256Digest, in blobs: any BlobStore) throws(BlobError) -> Descriptor {
    guard let bytes = sources[source] else { throw .missing(source) }
    do { return try blobs.open(source, bytes: bytes) } catch {
      // A file that cannot be read is damaged, and no reason to keep away from the others.
      guard case .system = error, let damage = error.damage else { throw error }
      throw .damaged(source, damage)
    }
  }

  /// Reads the sources to their ends, and throws `.damaged` for one that is not what was submitted: whatever is wrong with
  /// the outputs then, or with the media process, is the storage's fault and not the media's.
  package func checkSources(in blobs: any BlobStore) throws(BlobError) {
    for (hash, bytes) in sources.sorted(by: { $0.key < $1.key }) {
      if let damage = try blobs.damage(of: hash, bytes: bytes) { throw .damaged(hash, damage) }
    }
  }
}
