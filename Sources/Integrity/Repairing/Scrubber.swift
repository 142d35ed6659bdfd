package import Blobs
import Crypto
import Platform
package import Postgres
import Telemetry

/// Reads blobs in the background and compares their content with their hashes.
///
/// It reads one blob at a time, on a thread with low priority and with a limited rate, so that requests are not
/// delayed.
package struct Scrubber: Sendable {
  private let queue: ScrubQueue
  private let recorder: DamageRecorder
  private let pool: Pool

  /// The rate of reading in the background, in bytes per second.
  static let rate = 32 << 20

  /// - Parameter queue: the blobs to read; `run` closes it at the end.
  package init(queue: ScrubQueue, recorder: DamageRecorder, pool: Pool) {
    self.queue = queue
    self.recorder = recorder
    self.pool = pool
  }

  /// Reads blobs until the task is cancelled.
  package func run() async {
    let stop = CancellationFlag()
    await withTaskCancellationHandler {
      while let item = await queue.take() {
        do {
          try await check(item, until: stop)
        } catch {
          if stop.isCancelled { return }
          recorder.log.warning("a blob could not be checked", ["blob": item.hash.hex, "error": "\(error)"])
        }
      }
    } onCancel: {
      stop.cancel()
      queue.close()
    }
  }

  private func check(_ item: ScrubQueue.Item, until stop: CancellationFlag) async throws {
    let blobs = recorder.blobs
    let damage = try await onThread("scrub") {
      try givingWay("scrub") {
        let rate = ReadRate(bytesPerSecond: Scrubber.rate, until: stop)
        return item.isSuspect
          ? try blobs.damage(of: item.hash, bytes: item.bytes, rate: rate)
          : try blobs.scrub(item.hash, bytes: item.bytes, rate: rate)
      }
    }
    if damage != nil { try await recorder.check(item.hash, pool) }
  }
}

extension InspectableBlobStore {
  /// Reads a blob on a thread with low priority, and returns its damage; nil: it is intact.
  func damageInBackground(of hash: SHA256Digest, bytes: Int64) async throws -> BlobDamage? {
    try await onThread("scrub") {
      try givingWay("scrub") {
        let rate = ReadRate(bytesPerSecond: Scrubber.rate, until: CancellationFlag())
        return try damage(of: hash, bytes: bytes, rate: rate)
      }
    }
  }
}
