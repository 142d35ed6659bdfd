package import Blobs
import Crypto
import Logging
import Platform
package import Postgres

/// Reads blobs to their ends in the background, and compares what was read with their hashes.
///
/// One at a time, on a thread that lets others go first, and no faster than its rate: whoever is served meanwhile does not
/// notice.
package struct Scrubber: Sendable {
  private let queue: ScrubQueue
  private let recorder: DamageRecorder
  private let pool: Pool

  /// How fast blobs are read that nobody waits for, in bytes a second.
  static let rate = 32 << 20

  /// - Parameter queue: tells which; it is closed at the end.
  package init(queue: ScrubQueue, recorder: DamageRecorder, pool: Pool) {
    self.queue = queue
    self.recorder = recorder
    self.pool = pool
  }

  /// Goes on until its task is cancelled.
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
    let damage = try await recorder.blobs.damageInBackground(of: item.hash, bytes: item.bytes, until: stop)
    if damage != nil { try await recorder.judge(item.hash, pool) }
  }
}

extension InspectableBlobStore {
  /// Reads a blob to its end on a thread that lets others go first; how it is damaged, nil: it is whole.
  func damageInBackground(
    of hash: SHA256Digest, bytes: Int64, until stop: CancellationFlag = CancellationFlag()
  ) async throws -> BlobDamage? {
    try await onThread("scrub") {
      NamedThread.lowerPriority()
      return try damage(of: hash, bytes: bytes, pace: ReadingPace(bytesPerSecond: Scrubber.rate, until: stop))
    }
  }
}
