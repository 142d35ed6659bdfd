package import Blobs

extension BlobStore {
  /// Creates a blob that is not published, and is ready for a transaction.
  package func seal(_ bytes: [UInt8]) throws -> SealedBlob {
    var staged = try stage()
    try bytes.withUnsafeBytes { try staged.append($0) }
    let blob = try staged.seal()
    try prepare(blob)
    try blob.load()
    return blob
  }
}
