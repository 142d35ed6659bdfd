import Blobs
import Crypto
import Platform
import Postgres
import Store

/// Opens the folder of blobs inside the data folder.
enum BlobFolder {
  /// Opens the folder of blobs for a service or a worker, and closes the database if that fails.
  static func open(
    _ arguments: Arguments, _ database: DatabaseAccess, isCreating: Bool = false
  ) async throws -> FolderBlobStore {
    do {
      return try await open(arguments, database.pool, isCreating: isCreating)
    } catch {
      await database.close()
      throw error
    }
  }

  /// Opens the folder that holds the blobs of the database. Status 66 if the data folder does not exist, 74 if the
  /// folder of blobs cannot be used.
  ///
  /// - Parameters:
  ///   - isAdopting: whether a folder that is empty or has another id is accepted.
  ///   - isCreating: whether a missing folder is created.
  static func open(
    _ arguments: Arguments, _ database: Pool, isAdopting: Bool = false, isCreating: Bool = false
  ) async throws -> FolderBlobStore {
    let data = arguments.value("--data") ?? ".take5"
    guard isCreating || Folder.isFolder(data) else {
      throw CommandFailure(
        .inputMissing, "folder \(data) not found", remedy: "name the data folder with --data")
    }
    do {
      return try await database.transaction { session in
        try Store.openBlobs(in: "\(data)/blobs", isAdopting: isAdopting, session)
      }
    } catch let refusal as BlobFolderRefusal {
      throw CommandFailure(refusal, folder: "\(data)/blobs")
    } catch let error as BlobError {
      throw CommandFailure(
        .io, "the blobs in \(data) cannot be used: \(error)", remedy: "name a writable folder with --data")
    }
  }
}

extension CommandFailure {
  /// Translates the refusal of a folder of blobs.
  init(_ refusal: BlobFolderRefusal, folder: String) {
    self.init(
      .io, "\(folder) does not hold the blobs of this database: \(refusal)",
      remedy:
        "mount the file system with the blobs, or name the data folder with --data; if the blobs are lost "
        + "or were restored without store-id, 'take5 verify --adopt' accepts the folder as it is"
    )
  }
}

/// The blob store of a command that uses none: every call fails.
struct ClosedBlobStore: BlobStore {
  private static let away = BlobError.unavailable("this command does not open the blobs")

  func stage() throws(BlobError) -> StagedBlob { throw Self.away }
  func publish(_ blob: SealedBlob, replacing: Bool) throws(BlobError) { throw Self.away }
  func open(_ hash: SHA256Digest) throws(BlobError) -> Descriptor { throw Self.away }
  func remove(_ hash: SHA256Digest) throws(BlobError) -> Bool { throw Self.away }
  func uploads() throws(BlobError) -> UploadFolder { throw Self.away }
  func freeBytes() throws(BlobError) -> Int64? { throw Self.away }
  func contains(_ hash: SHA256Digest) throws(BlobError) -> Bool { throw Self.away }
}
