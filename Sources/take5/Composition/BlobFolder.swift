import Blobs
import Platform
import Postgres
import Store

/// The folder of blobs inside the data folder.
enum BlobFolder {
  /// As below, for a service or a worker; without its blobs it lets its database go.
  static func open(
    _ arguments: Arguments, _ database: DatabaseAccess, isMaking: Bool = false
  ) async throws -> FolderBlobStore {
    do {
      return try await open(arguments, database.pool, isMaking: isMaking)
    } catch {
      await database.close()
      throw error
    }
  }

  /// Opens the one that the database's blobs lie in; status 66 if there is none, 74 if it cannot be had.
  ///
  /// - Parameters:
  ///   - isAdopting: whether the folder is taken as it is.
  ///   - isMaking: whether one that is missing is made.
  static func open(
    _ arguments: Arguments, _ database: Pool, isAdopting: Bool = false, isMaking: Bool = false
  ) async throws -> FolderBlobStore {
    let data = arguments.value("--data") ?? ".take5"
    guard isMaking || Folder.isFolder(data) else {
      throw CommandFailure(
        .inputMissing, "there is no folder \(data)", remedy: "name the folder that the blobs lie in with --data")
    }
    do {
      return try await database.transaction { session in
        try Store.openBlobs(in: "\(data)/blobs", isAdopting: isAdopting, session)
      }
    } catch let refusal as BlobFolderRefusal {
      throw CommandFailure(
        .io, "the folder \(data)/blobs is not the one that the blobs lie in: \(refusal)",
        remedy:
          "mount the file system with the blobs, or name its folder with --data; if they are gone, or were brought back without store-id, 'take5 verify --adopt' goes on with what is there"
      )
    } catch let error as BlobError {
      throw CommandFailure(
        .io, "the blobs in \(data) cannot be kept: \(error)", remedy: "name a folder that you may write to with --data")
    }
  }
}
