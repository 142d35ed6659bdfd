internal import Blobs
internal import HTTPServer
internal import Kit
internal import Model
internal import Telemetry

/// The free space of the blob store, checked before media are accepted.
struct MediaSpace: Sendable {
  let blobs: any BlobStore
  /// The free space in bytes below which no media are accepted.
  let minFree: Int64
  /// The uploads whose bytes have not all come yet.
  let uploads: OpenUploads

  /// Throws a problem with status 503 if there is too little free space beside what is promised to uploads, up to half of it.
  ///
  /// - Parameter bytes: the number of bytes that are about to be sent.
  func check(reserving bytes: Int64 = 0) throws { try check(for: uploads.promisedBytes, and: bytes) }

  /// Throws a problem with status 503 if there is too little free space as it is: for the bytes of an upload, which were promised.
  func checkFree() throws { try requireFree(try blobs.freeBytes()) }

  /// Throws a problem with status 503 if this free space is too little; nil: there is no known limit.
  func requireFree(_ free: Int64?) throws(Problem) { try require(free, for: 0, and: 0) }

  private func check(for promised: Int64, and bytes: Int64) throws {
    try require(try blobs.freeBytes(), for: promised, and: bytes)
  }

  private func require(_ free: Int64?, for promised: Int64, and bytes: Int64) throws(Problem) {
    guard let free else { return }
    // All promises together count as half of the space: who makes accounts that promise and send nothing stops no others.
    let promised = min(promised, max(0, free - minFree) / 2)
    // None is negative, so that no difference overflows.
    guard free - promised < minFree || free - promised - minFree < bytes else { return }
    throw ProblemKind.storageLow.problem(
      "The storage has \(max(0, free - promised) >> 20) MiB of free space; \(minFree >> 20) MiB are reserved.",
      headers: ["Retry-After": "60"])
  }

  /// The free space and the minimum; none if there is no known limit.
  func gauges(free: Int64?) -> [MetricGauge] {
    guard let free else { return [] }
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
