internal import Blobs
internal import HTTPServer

/// What is left of the storage for media.
struct MediaRoom: Sendable {
  let blobs: any BlobStore
  /// With less, in bytes, nothing is taken in.
  let minFree: Int64

  /// Throws 503 where further media would fill the storage.
  func check() throws {
    guard let free = try blobs.freeBytes(), free < minFree else { return }
    throw ProblemKind.storageLow.problem(
      "The storage has \(free >> 20) MiB left; \(minFree >> 20) MiB are kept free.", headers: ["Retry-After": "60"])
  }

  /// Begins a file, if there is room for it.
  func stage() throws -> StagedBlob {
    try check()
    return try blobs.stage()
  }
}
