import Blobs
import Crypto
import Glibc
import Model
import Platform
import Postgres
import Store

/// Opens the blobs of a database: a folder inside the data folder, or a bucket.
enum BlobOptions {
  static let blobs = Option(
    "--blobs", "URL", variable: "TAKE5_BLOBS", default: "folder",
    help: "store of the blobs: folder, which is in the data folder, or s3://BUCKET/PREFIX?endpoint=URL")
  static let next = Option(
    "--blobs-next", "URL", variable: "TAKE5_BLOBS_NEXT",
    help: "store that the blobs move to; the service writes to both; see 'take5 blobs move'")
  static let cache = Option(
    \.blobCache, "--blob-cache", "MIB", .integer(64...1 << 24),
    help: "maximum size of the copies of a bucket's blobs in the data folder")
  static let certificates = Option(
    "--blob-cacert", "FILE", variable: "TAKE5_BLOB_CACERT",
    help: "trusted CA certificates in PEM for the endpoint of a bucket, instead of the system's")

  /// A place of blobs that an option names.
  struct Place: Sendable {
    /// For messages.
    let name: String
    let place: BlobPlace<any InspectableBlobStore>
    /// The client of a bucket; nil: the place is a folder.
    let bucket: S3Client?
    /// What to do if the place cannot be used.
    let remedy: String
  }

  /// The places of the blobs of a process, by its options.
  struct Places: Sendable {
    let place: Place
    /// Where the blobs move to.
    let next: Place?
    let data: String
    /// Whether a missing data folder is created.
    let isCreating: Bool

    var isRemote: Bool { place.bucket != nil || next?.bucket != nil }

    /// The origin of URLs of a bucket; nil while the blobs move.
    var urlOrigin: String? { next == nil ? place.bucket.map(\.origin) : nil }

    /// Opens the blobs of the database; what fails is translated by `failure(_:)`.
    ///
    /// - Parameter isAdopting: whether a place that is empty or has another id is accepted.
    func open(isAdopting: Bool = false, _ database: Pool) async throws -> any InspectableBlobStore {
      try await onThread("blobs") {
        if let denial = StoreOwner.denial(of: data) { throw DataFolderAway(failure: denial) }
        guard isCreating || Folder.isFolder(data) else {
          throw DataFolderAway(
            failure: CommandFailure(
              .inputMissing, "folder \(data) not found", remedy: "name the data folder with --data"))
        }
        guard isCreating else { return }
        do throws(SystemError) { try Folder.make(data, mode: 0o700) } catch {
          throw DataFolderAway(failure: CommandFailure(error))
        }
      }
      guard let next, !isAdopting else {
        return try await DatabaseBlobs.open(in: place.place, isAdopting: isAdopting, database)
      }
      return try await DatabaseBlobs.open(in: place.place, movingTo: next.place, database)
    }

    /// Moves what clients have sent in parts to where it lies now: from where the blobs were before a move, and from the folder of copies,
    /// in which a version before has it.
    func takeUploads(_ blobs: any BlobStore) throws(BlobError) {
      let uploads = try blobs.uploads()
      try uploads.take(from: "\(data)/blobs/uploads")
      try uploads.take(from: "\(data)/blob-cache/uploads", leaving: place.bucket == nil ? nil : "../uploads")
      try uploads.take(from: "\(data)/uploads")
    }

    /// Translates an error of `open`: status 66 if the data folder does not exist, 74 if it or the blobs cannot be used.
    func failure(_ error: any Error) -> any Error {
      switch error {
      case let away as DataFolderAway: away.failure
      case let refusal as BlobFolderRefusal: CommandFailure(refusal, folder: place.name)
      case let error as BlobError:
        CommandFailure(.io, "the blobs in \(place.name) cannot be used: \(error)", remedy: place.remedy)
      default: error
      }
    }
  }

  /// Returns the places that the options name.
  ///
  /// - Parameters:
  ///   - isCreating: whether a missing folder is created, as it always is with a bucket.
  ///   - onExchange: called after each request to a bucket.
  static func places(
    _ arguments: Arguments, isCreating: Bool = false, onExchange: @escaping @Sendable (S3Exchange) -> Void = { _ in }
  ) throws(CommandFailure) -> Places {
    let place = try place(arguments.value(blobs.name), arguments, onExchange: onExchange)
    var following: Place?
    if let text = arguments.value(next.name) {
      following = try Self.place(text, arguments, onExchange: onExchange)
    }
    // What a bucket has of the folder are files of this machine alone.
    return Places(
      place: place, next: following, data: folder(arguments), isCreating: isCreating || place.bucket != nil)
  }

  /// Opens the blobs for a command, and closes the database if that fails.
  static func open(
    _ arguments: Arguments, _ database: DatabaseAccess, isCreating: Bool = false
  ) async throws -> any InspectableBlobStore {
    do {
      return try await open(arguments, database.pool, isCreating: isCreating)
    } catch {
      await database.close()
      throw error
    }
  }

  /// Opens the blobs of the database. Status 66 if the data folder does not exist, 74 if the blobs cannot be used.
  ///
  /// - Parameters:
  ///   - isAdopting: whether a place that is empty or has another id is accepted.
  ///   - isCreating: whether a missing folder is created, as it always is with a bucket.
  static func open(
    _ arguments: Arguments, _ database: Pool, isAdopting: Bool = false, isCreating: Bool = false
  ) async throws -> any InspectableBlobStore {
    let places = try places(arguments, isCreating: isCreating)
    do {
      return try await places.open(isAdopting: isAdopting, database)
    } catch {
      throw places.failure(error)
    }
  }

  /// Returns the place that a value of `--blobs` names.
  ///
  /// - Parameter onExchange: called after each request to a bucket.
  static func place(
    _ text: String?, _ arguments: Arguments, onExchange: @escaping @Sendable (S3Exchange) -> Void = { _ in }
  ) throws(CommandFailure) -> Place {
    let data = folder(arguments)
    guard let text, text != blobs.defaultValue else {
      let path = "\(data)/blobs"
      return Place(name: path, place: .folder(path), bucket: nil, remedy: "name a writable folder with --data")
    }
    let location: S3Location
    do throws(S3Location.Invalid) { location = try S3Location(text) } catch {
      throw CommandFailure(
        .usage, "'\(text)' is not a bucket: \(error)",
        remedy: "write it as s3://BUCKET/PREFIX?endpoint=https://HOST:PORT")
    }
    let source = S3CredentialSource(environment: Environment.variables())
    let trusted = arguments.value(certificates.name)
    if let trusted { try checkCertificates(trusted) }
    let client = S3Client(
      location, credentials: { try source.credentials() }, certificates: trusted, onExchange: onExchange)
    let limit = try ServiceConfiguration([cache], arguments).blobCache
    return Place(
      name: "\(location)", place: .bucket(client, data: data, limit: limit), bucket: client,
      remedy: "check the URL, that the bucket exists, and the keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
  }

  /// Status 78 if a file has no certificate: libcurl reads it at the first request only.
  private static func checkCertificates(_ path: String) throws(CommandFailure) {
    let bytes: [UInt8]
    do throws(SystemError) { bytes = try Descriptor(reading: path).bytes(count: 4 << 20, at: 0) } catch {
      throw CommandFailure(
        .configuration, "\(certificates.name): \(path) cannot be read: \(error.reason)",
        remedy: "check the path of \(certificates.name) and the permissions of the file")
    }
    guard String(decoding: bytes, as: UTF8.self).contains("CERTIFICATE-----") else {
      throw CommandFailure(
        .configuration, "\(certificates.name): \(path) has no certificate in PEM",
        remedy: "name a file with '-----BEGIN CERTIFICATE-----' in it, or remove the option")
    }
  }

  private static func folder(_ arguments: Arguments) -> String { arguments.value("--data") ?? ".take5" }
}

extension BlobPlace where Blobs == any InspectableBlobStore {
  /// A bucket, with the data folder and the limit of its copies on this machine.
  static func bucket(_ client: S3Client, data: String, limit: Int64) -> BlobPlace {
    BlobPlace(
      id: { try ObjectBlobStore.id(of: client) }, contains: { try ObjectBlobStore.contains($0, in: client) },
      open: { id in
        let blobs = try ObjectBlobStore(
          client, folder: "\(data)/blob-cache", uploads: "\(data)/uploads", limit: limit, id: id)
        return (blobs, blobs.id)
      })
  }
}

/// The data folder is not there, or this user may not use it, as a mount point without its file system. A command ends with the failure; a
/// service and a worker, whose database is elsewhere, wait.
struct DataFolderAway: Error, CustomStringConvertible {
  let failure: CommandFailure

  var description: String { failure.message ?? "the data folder cannot be used" }
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

extension AwaitedBlobStore {
  /// The blob store of a command that uses none: every call fails.
  static var closed: AwaitedBlobStore {
    AwaitedBlobStore(isRemote: false, urlOrigin: nil, reason: "this command does not open the blobs")
  }
}
