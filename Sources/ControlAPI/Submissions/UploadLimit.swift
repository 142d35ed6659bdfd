internal import Blobs
internal import HTTPServer
internal import Metrics
internal import Model
package import Platform

/// Limits the number of submissions that this process receives at the same time.
///
/// A submission beyond the limit is refused before its body is read, so that an admitted submission finds the memory and
/// the database connection that it needs.
package final class UploadLimit: Sendable {
  /// The default limit.
  package static let defaultMax = 1024

  private let limit: Int
  private let onRefusal: @Sendable (IPAddress) -> Void
  private let running = Locked(0)

  /// - Parameter onRefusal: called with the client's address for each refused submission; it must not block.
  package init(max limit: Int = defaultMax, onRefusal: @escaping @Sendable (IPAddress) -> Void = { _ in }) {
    self.limit = limit
    self.onRefusal = onRefusal
  }

  /// The number of submissions that are being received.
  package var count: Int { running.withLock { $0 } }

  /// Runs `body` if the limit is not reached; throws a problem with status 503 otherwise.
  func admit<Result>(_ client: IPAddress, _ body: () async throws -> Result) async throws -> Result {
    let isAdmitted = running.withLock { running in
      guard running < limit else { return false }
      running += 1
      return true
    }
    guard isAdmitted else {
      onRefusal(client)
      throw ProblemKind.overloaded.problem(
        "The limit of \(CountText.text(limit, "concurrent submission")) is reached.", headers: ["Retry-After": "5"])
    }
    defer { running.withLock { $0 -= 1 } }
    return try await body()
  }
}

/// The free space of the blob store, checked before media are accepted.
struct MediaSpace: Sendable {
  let blobs: any BlobStore
  /// The free space in bytes below which no media are accepted.
  let minFree: Int64

  /// Throws a problem with status 503 if there is too little free space.
  ///
  /// - Parameter bytes: the number of bytes that are about to be sent.
  func check(reserving bytes: Int64 = 0) throws {
    guard let free = try blobs.freeBytes(), free - bytes < minFree else { return }
    throw ProblemKind.storageLow.problem(
      "The storage has \(free >> 20) MiB of free space; \(minFree >> 20) MiB are reserved.",
      headers: ["Retry-After": "60"])
  }

  /// Throws a problem if there is too little free space for a submission. The space is checked again when a part with media
  /// begins.
  func check(for request: Request) throws {
    let bytes = bytes(of: request)
    if bytes > 0 || request.head.contentLength == nil { try check(reserving: bytes) }
  }

  /// The number of bytes of media that a submission may be about to send, as far as its head says. A short form may contain only
  /// text, which needs no space for media.
  func bytes(of request: Request) -> Int64 {
    let length = request.head.contentLength ?? 0
    return length > SubmissionForm.maxTextFormBytes ? length : 0
  }

  /// The free space and the minimum; none if the store cannot be reached or has no limit.
  var gauges: [MetricGauge] {
    guard let free = try? blobs.freeBytes() else { return [] }
    return [
      MetricGauge("take5_storage_free_bytes", "Free space for media.", [:], Double(free)),
      MetricGauge(
        "take5_storage_min_free_bytes", "Free space below which submissions with media are refused.", [:],
        Double(minFree)),
    ]
  }

  /// Creates a staged file if there is enough free space.
  func stage() throws -> StagedBlob {
    try check()
    return try blobs.stage()
  }
}
