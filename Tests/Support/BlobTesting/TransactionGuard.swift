package import Blobs
import Platform
import Testing

/// Makes tests fail that wait for a disk or a network while a transaction of the database is open.
package func guardTransactions() { _ = guarding }

private let guarding: Void = CriticalSection.reportWaits { call in
  Issue.record("a transaction of the database waits for the storage: \(call)")
}

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
