import Blobs
import Crypto
import Glibc
import ObjectStore
import Platform
import Postgres
import Store

/// Opens the blobs of a database: a folder inside the data folder, or a bucket.
enum BlobOptions {
  static let blobs = Option(
    "--blobs", "URL", variable: "TAKE5_BLOBS",
    help: "S3-compatible bucket for the blobs instead of the data folder: s3://BUCKET/PREFIX?endpoint=URL")
  static let cache = Option(
    "--blob-cache", "MIB", .integer(64...1 << 24), variable: "TAKE5_BLOB_CACHE", default: "4096",
    help: "limit of the copies of a bucket's blobs in the data folder")
  static let certificates = Option(
    "--blob-cacert", "FILE", variable: "TAKE5_BLOB_CACERT",
    help: "certificates in PEM that the endpoint of --blobs is trusted by, instead of the system's")

  /// Opens the blobs for a service or a worker, and closes the database if that fails.
  static func open(
    _ arguments: Arguments, _ database: DatabaseAccess, isCreating: Bool = false,
    onExchange: @escaping @Sendable (S3Exchange) -> Void = { _ in }
  ) async throws -> any InspectableBlobStore {
    do {
      return try await open(arguments, database.pool, isCreating: isCreating, onExchange: onExchange)
    } catch {
      await database.close()
      throw error
    }
  }

  /// Opens the blobs of the database. Status 66 if the data folder does not exist, 74 if the blobs cannot be used.
  ///
  /// - Parameters:
  ///   - isAdopting: whether a place that is empty or has another id is accepted.
  ///   - isCreating: whether a missing folder is created.
  static func open(
    _ arguments: Arguments, _ database: Pool, isAdopting: Bool = false, isCreating: Bool = false,
    onExchange: @escaping @Sendable (S3Exchange) -> Void = { _ in }
  ) async throws -> any InspectableBlobStore {
    let data = arguments.value("--data") ?? ".take5"
    guard isCreating || Folder.isFolder(data) else {
      throw CommandFailure(
        .inputMissing, "folder \(data) not found", remedy: "name the data folder with --data")
    }
    let bucket = try client(arguments, onExchange: onExchange)
    let limit = Int64(try arguments.number(cache.name) ?? 4096) << 20
    let name = bucket.map { "\($0.location)" } ?? "\(data)/blobs"
    do {
      if isCreating { try Folder.make(data, mode: 0o700) }
      return try await database.transaction { session -> any InspectableBlobStore in
        guard let bucket else {
          return try Store.openBlobs(in: .folder("\(data)/blobs"), isAdopting: isAdopting, session)
        }
        return try Store.openBlobs(
          in: .bucket(bucket, folder: "\(data)/blob-cache", limit: limit), isAdopting: isAdopting, session)
      }
    } catch let refusal as BlobFolderRefusal {
      throw CommandFailure(refusal, folder: name)
    } catch let error as BlobError {
      throw CommandFailure(
        .io, "the blobs in \(name) cannot be used: \(error)",
        remedy: bucket == nil
          ? "name a writable folder with --data"
          : "check --blobs, that the bucket exists, and the keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
    }
  }

  /// Returns the client of the bucket that `--blobs` names; nil without it.
  ///
  /// - Parameter onExchange: called after each request to the store.
  static func client(
    _ arguments: Arguments, onExchange: @escaping @Sendable (S3Exchange) -> Void = { _ in }
  ) throws(CommandFailure) -> S3Client? {
    guard let text = arguments.value(blobs.name) else { return nil }
    let location: S3Location
    do throws(S3Location.Invalid) { location = try S3Location(text) } catch {
      throw CommandFailure(
        .usage, "'\(text)' is not a bucket: \(error)",
        remedy: "write it as s3://BUCKET/PREFIX?endpoint=https://HOST:PORT (docs/object-store.md)")
    }
    let source = S3CredentialSource(environment: Take5.environment())
    return S3Client(
      location, credentials: { try source.credentials() }, certificates: arguments.value(certificates.name),
      onExchange: onExchange)
  }
}

extension BlobPlace where Blobs == ObjectBlobStore {
  /// A bucket, with the folder and the limit of its copies on this machine.
  static func bucket(_ client: S3Client, folder: String, limit: Int64) -> BlobPlace {
    BlobPlace(
      id: { try ObjectBlobStore.id(of: client) }, contains: { try ObjectBlobStore.contains($0, in: client) },
      open: { id in
        let blobs = try ObjectBlobStore(client, folder: folder, limit: limit, id: id)
        return (blobs, blobs.id)
      })
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
