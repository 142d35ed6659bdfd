import Blobs
import Platform
import Postgres
import Rooms
import Store

extension DoctorCheck {
  /// Checks that the folder of blobs belongs to the database, can be written, and has room.
  static func store(_ subject: DoctorSubject) async throws -> [CheckResult] {
    if let denial = StoreOwner.denial(of: subject.data) { return [.error("store", "folder", denial)] }
    let minFree = try ServiceConfiguration([.minFree], subject.arguments).api.minFree
    let place = try BlobOptions.place(subject.arguments.value(BlobOptions.blobs.name), subject.arguments)
    if let bucket = place.bucket {
      let parent = existing(subject.data)
      return [
        try await check(bucket, place, subject),
        space(try FolderBlobStore.freeBytes(in: parent), minFree: minFree, parent),
      ]
    }
    let folder = "\(subject.data)/blobs"
    let match = try await match(of: place.place, subject)
    guard Folder.isFolder(folder) else {
      let parent = existing(subject.data)
      return [missing(folder, match), space(try FolderBlobStore.freeBytes(in: parent), minFree: minFree, parent)]
    }
    let owner = identity(folder, match)
    var results = [owner]
    // Nothing is written to a folder that is not a store yet, or not the right one.
    if try owner.level != .error && FolderBlobStore.id(in: folder) != nil { results.append(writing(in: folder)) }
    results.append(space(try FolderBlobStore.freeBytes(in: folder), minFree: minFree, folder))
    return results
  }

  /// Compares the folder with the database; nil if that has no schema yet, or an older one, or cannot be reached.
  private static func match(
    of place: BlobPlace<any InspectableBlobStore>, _ subject: DoctorSubject
  ) async throws -> BlobFolderMatch? {
    guard case .success(let access) = subject.database else { return nil }
    let isEmpty = try await access.pool.run { session in try Migrator.applied(session).isEmpty }
    guard !isEmpty else { return nil }
    do {
      return try await DatabaseBlobs.match(of: place, access.pool)
    } catch let error as PostgresError where error.isUndefined {
      return nil
    }
  }

  /// Whether a bucket can be read, and belongs to the database.
  private static func check(
    _ bucket: S3Client, _ place: BlobOptions.Place, _ subject: DoctorSubject
  ) async throws -> CheckResult {
    do throws(BlobError) {
      _ = try ObjectBlobStore.id(of: bucket)
    } catch {
      return .error("store", "bucket", "\(error)", remedy: place.remedy)
    }
    return identity(place.name, try await match(of: place.place, subject))
  }

  private static func missing(_ folder: String, _ match: BlobFolderMatch?) -> CheckResult {
    if case .refused(let refusal) = match {
      return .error("store", "folder", CommandFailure(refusal, folder: folder))
    }
    return .warning(
      "store", "folder", "\(folder) does not exist",
      remedy: "'take5 serve' and 'take5 init' create it; if there should be one, name the data folder with --data")
  }

  /// Whether the folder belongs to the database.
  static func identity(_ folder: String, _ match: BlobFolderMatch?) -> CheckResult {
    switch match {
    case .same(let id): .ok("store", "folder", "\(folder) is the store \(id), as the database expects")
    case .adopted: .ok("store", "folder", "\(folder) becomes the store of the database at the next start of a service")
    case .refused(let refusal): .error("store", "folder", CommandFailure(refusal, folder: folder))
    case nil:
      .warning(
        "store", "folder", "\(folder) exists, and was not compared with the database",
        remedy: "see the results of the database")
    }
  }

  private static func writing(in folder: String) -> CheckResult {
    do throws(BlobError) {
      return try FolderBlobStore.checkWriting(in: folder)
        ? .ok("store", "writing", "unnamed files can be written and linked (O_TMPFILE)")
        : .warning(
          "store", "writing", "the file system has no unnamed files (O_TMPFILE): staged files have names",
          remedy: "use a file system such as ext4, XFS or Btrfs, on which an interruption leaves no files behind")
    } catch {
      return .error(
        "store", "writing", "\(error)", remedy: "make the folder writable for the user who runs take5")
    }
  }

  /// Whether submissions with media are accepted.
  static func space(_ free: Int64, minFree: Int64, _ folder: String) -> CheckResult {
    let found = "\(free >> 20) MiB are free, --min-free is \(minFree >> 20) MiB"
    return free >= minFree
      ? .ok("store", "space", found)
      : .error(
        "store", "space", "\(found): submissions with media are refused",
        remedy: "free space on the file system of \(folder), or set another --min-free")
  }
}
