import Blobs
import Platform
import Postgres
import Store
import Telemetry

/// The opening of the blobs of a service or a worker. A folder or a bucket that cannot be used delays the start for a short time only:
/// the process does without, and opens it as soon as that is possible.
struct BlobWait: Sendable {
  let places: BlobOptions.Places
  let pool: Pool
  let process: ServiceProcess
  /// Prepares the open blobs before they are used.
  let prepare: @Sendable (any InspectableBlobStore) throws -> Void

  /// The time after which the start goes on without the blobs.
  private static let startTimeout = Duration.seconds(10)
  /// The pause between two attempts.
  private static let pause = Duration.seconds(2)

  /// Opens the blobs, or begins to wait for them; throws if they belong to another store, or if an option is wrong.
  func begin() async throws -> AwaitedBlobStore {
    let blobs = AwaitedBlobStore(isRemote: places.isRemote, urlOrigin: places.urlOrigin)
    let started = OneShot<Result<Void, any Error>>()
    Task { await open(blobs, started) }
    let timer = Task {
      do { try await Task.sleep(for: Self.startTimeout) } catch { return }
      process.log.error(
        "the blobs have not been opened yet: the start goes on without them", ["blobs": places.place.name])
      ServiceManager.notify(nil, status: "waiting for the blobs in \(places.place.name)", process.log)
      started.fulfil(.success(()))
    }
    // A process that is to end does not wait for a bucket.
    process.signals.onRequest { started.fulfil(.success(())) }
    let result = await started.value
    process.signals.onRequest(nil)
    timer.cancel()
    try result.get()
    return blobs
  }

  private func open(_ blobs: AwaitedBlobStore, _ started: OneShot<Result<Void, any Error>>) async {
    var report = LastingReport()
    let start = ContinuousClock.now
    while !Task.isCancelled {
      do {
        let opened = try await places.open(pool)
        try await onThread("blobs") { try prepare(opened) }
        blobs.open(opened)
        if report.hasBegun || start.duration(to: .now) >= Self.startTimeout {
          process.log.info("the blobs can be used: the wait is over", ["blobs": places.place.name])
          ServiceManager.notify(nil, status: "", process.log)
        }
        return started.fulfil(.success(()))
      } catch {
        let failure = CommandFailure(places.failure(error))
        guard Self.mayPass(error) else {
          started.fulfil(.failure(failure))
          return process.end(with: failure)
        }
        blobs.wait(for: "\(error)")
        if report.isDue(at: .now) {
          process.log.error(
            "the blobs cannot be used: waiting for them, and doing what needs none",
            ["error": failure.message ?? "", "remedy": failure.remedy ?? ""])
          ServiceManager.notify(nil, status: "waiting for the blobs: \(failure.message ?? "")", process.log)
        }
        started.fulfil(.success(()))
      }
      do { try await Task.sleep(for: Self.pause) } catch { return }
    }
  }

  /// Whether the blobs may be usable later without another start: a folder that is not mounted or cannot be used, a bucket that does
  /// not respond or refuses requests, a database that is away or busy. Those of another store are not.
  static func mayPass(_ error: any Error) -> Bool {
    switch error {
    case is BlobError, is DataFolderAway, BlobFolderRefusal.unmarked, BlobFolderRefusal.lacksNewest: true
    // A service that listens may be busy, or its database may have become slow: neither ends it.
    case let error as PostgresError:
      error.isOutage || error.isExhausted || error.isShareUsed || error.isConflict || error.isCanceled
        || error.isLockTimeout
    default: false
    }
  }
}
