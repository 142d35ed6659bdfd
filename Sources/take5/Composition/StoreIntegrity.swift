import Blobs
import Integrity
import Platform
import Postgres
import Store

/// What verbs need that look at the store as a whole: its database, its blobs, and what to say if they cannot be had.
struct StoreIntegrity: Sendable {
  let pool: Pool
  let store: Store
  let blobs: FolderBlobStore

  /// Opens the store for one thing, and closes it again; status 74 if its files, 69 if its database cannot be read.
  ///
  /// - Parameter isAdopting: whether the folder of the blobs is taken as it is.
  static func use<Result: Sendable>(
    _ arguments: Arguments, connections: Int = 1, isAdopting: Bool = false,
    _ body: (StoreIntegrity) async throws -> Result
  ) async throws -> Result {
    do {
      return try await DatabaseAccess.use(arguments, connections: connections) { pool in
        let blobs = try await BlobFolder.open(arguments, pool, isAdopting: isAdopting)
        return try await body(StoreIntegrity(pool: pool, store: Store(blobs: blobs), blobs: blobs))
      }
    } catch let error as BlobError {
      throw CommandFailure(
        .io, "not everything could be looked at: \(error)", remedy: "check that you may read the folder of the blobs")
    } catch let error as PostgresError {
      throw CommandFailure(.unavailable, "not everything could be looked at: \(error.message)", remedy: error.remedy)
    } catch let error as SystemError {
      throw CommandFailure(.io, "not everything could be looked at: \(error)")
    }
  }
}
