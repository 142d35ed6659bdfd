import Platform

/// How calls that write to a blob store are made.
package typealias BlobWriting = @Sendable (@escaping @Sendable () throws(BlobError) -> Void) async throws -> Void

/// Writes of blobs for clients. Those to this machine are made on the thread of the caller, which is one that may hang; those to another
/// machine on threads of their own, while the caller waits as a task: they have time limits of their own, and may take long.
package struct BlobWrites: Sendable {
  private static let threads = 16
  /// The time after which a call to another machine hangs: longer than the largest file takes on a slow line.
  private static let limit = Duration.seconds(3600)

  private let remote: StorageThreads?

  package init(_ blobs: any BlobStore) {
    remote = blobs.isRemote ? StorageThreads(name: "bucket-write", threads: Self.threads, limit: Self.limit) : nil
  }

  package func run(_ work: @escaping @Sendable () throws(BlobError) -> Void) async throws(BlobError) {
    guard let remote else { return try work() }
    try await remote.run(within: Self.limit, work)
  }
}
