import Blobs
import Integrity
import MediaProcess
import Platform
import Postgres
import Rooms
import Store
import Telemetry
import Worker

/// The open store of a command that reads all of it.
struct StoreIntegrity: Sendable {
  let pool: Pool
  let store: Store
  let blobs: any InspectableBlobStore

  /// Opens the store, runs `body` and closes it. Status 74 if its files cannot be read, 69 if its database cannot.
  ///
  /// - Parameters:
  ///   - isAdopting: whether a folder of blobs that is empty or has another id is accepted.
  ///   - releasedPause: the time for which content stays that nothing refers to any more.
  static func use<Result: Sendable>(
    _ arguments: Arguments, connections: Int = 1, isAdopting: Bool = false,
    releasedPause: Duration = Store.releasedPause,
    _ body: (StoreIntegrity) async throws -> Result
  ) async throws -> Result {
    do {
      return try await DatabaseAccess.use(arguments, connections: connections) { pool in
        let blobs = try await BlobOptions.open(arguments, pool, isAdopting: isAdopting)
        let store = Store(blobs: blobs, rooms: .all, releasedPause: releasedPause)
        return try await body(StoreIntegrity(pool: pool, store: store, blobs: blobs))
      }
    } catch let error as BlobError {
      throw CommandFailure(
        .io, "the store could not be read completely: \(error)", remedy: "check the permissions of the folder of blobs")
    } catch let error as PostgresError {
      throw CommandFailure(
        .unavailable, "the store could not be read completely: \(error.message)", remedy: error.remedy)
    } catch let error as SystemError {
      throw CommandFailure(.io, "the store could not be read completely: \(error)")
    }
  }
}
