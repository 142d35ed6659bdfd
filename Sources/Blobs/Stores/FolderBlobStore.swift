package import Crypto
import Glibc
package import Model
package import Platform

/// A blob store in a folder, with files `ab/<sha256>` that are durable before they are visible.
package struct FolderBlobStore: LocalBlobStore {
  let folder: String
  /// The id of the store, from its store-id file.
  package let id: PublicID
  private let hasUnnamedFiles: Bool
  /// Whether the files are copies, which may be lost: a folder that has gone is made again.
  private let isCache: Bool

  // The folder of staged files on file systems without O_TMPFILE.
  private var stagingFolder: String { "\(folder)/.staging" }
  private static let maxStagedAge: Int = 24 * 60 * 60

  /// Opens the store, creates missing folders, and removes staged files of ended processes.
  ///
  /// - Parameter id: the id of a new store.
  package init(folder: String, id: PublicID = .now()) throws(BlobError) {
    try self.init(folder: folder, id: id, allowsUnnamedFiles: true)
  }

  /// Opens a folder of copies, which is made again whenever it has gone.
  package init(cache folder: String) throws(BlobError) {
    try self.init(folder: folder, allowsUnnamedFiles: true, isCache: true)
  }

  init(folder: String, id: PublicID = .now(), allowsUnnamedFiles: Bool, isCache: Bool = false) throws(BlobError) {
    CriticalSection.mayWait("the opening of the blobs")
    do throws(SystemError) {
      self.folder = folder
      self.isCache = isCache
      self.id = try Self.make(folder, id)
      hasUnnamedFiles = allowsUnnamedFiles && Self.probeUnnamedFiles(in: folder)
      // If this fails, the next opening removes them.
      _ = try? stagedOrphans(removing: true)
    } catch {
      throw .system(error)
    }
  }

  /// Makes the folders and the store-id file that are missing; returns the id.
  private static func make(_ folder: String, _ id: PublicID) throws(SystemError) -> PublicID {
    try Folder.make(folder, mode: 0o700)
    // All folders now, so that publishing a blob does not have to synchronize the parent folder.
    for number in 0..<256 { try Folder.make("\(folder)/\(prefix(UInt8(number)))", mode: 0o700) }
    try Folder.make("\(folder)/.staging", mode: 0o700)
    let id = try writeID(of: folder, id)
    try Folder.synchronize(folder)
    return id
  }

  /// Makes the folders of copies that have gone.
  package func restore() throws(BlobError) {
    do throws(SystemError) { _ = try Self.make(folder, id) } catch { throw .system(error) }
  }

  /// Throws `.unavailable` unless the folder belongs to this store now; creates the folder of copies again.
  func checkID() throws(BlobError) {
    guard let found = try Self.storedID(in: folder) else {
      guard isCache else { throw .unavailable("no \(Self.idFileName) in \(folder)") }
      return try restore()
    }
    // Another process may have made the folder of copies again.
    guard found == id || isCache else { throw .unavailable("\(folder) is the store \(found), not \(id)") }
  }

  package var ids: [PublicID] { [id] }

  package func stage() throws(BlobError) -> StagedBlob {
    CriticalSection.mayWait("a staged file")
    try checkID()
    do throws(SystemError) {
      return try Failpoint.stage.around { () throws(SystemError) in
        if hasUnnamedFiles { return StagedBlob(try Descriptor(unnamedIn: folder), name: nil) }
        while true {
          let name = StagingName(path: Self.newStagingPath(in: folder))
          let file = try Descriptor(writing: name.path, replacing: false, mode: 0o640)
          // The lock shows that the file is in use while a process has it open. Another process may have removed the
          // file before it was locked.
          _ = try file.lock(waiting: true)
          if try file.linkCount() > 0 { return StagedBlob(file, name: name) }
        }
      }
    } catch {
      throw .system(error)
    }
  }

  package func uploads() throws(BlobError) -> UploadFolder {
    CriticalSection.mayWait("the folder of uploads")
    return UploadFolder(of: self)
  }

  package func freeBytes() throws(BlobError) -> Int64? {
    if isCache { try checkID() }
    return try Self.freeBytes(in: folder)
  }

  /// The free space of the file system of a folder, in bytes.
  package static func freeBytes(in folder: String) throws(BlobError) -> Int64 {
    CriticalSection.mayWait("the free space")
    do {
      return try FileSystem(folder).freeBytes
    } catch {
      throw .system(error)
    }
  }

  /// Makes the content durable. A file that has the name of the blob already is read: if it is not whole, the publication replaces it, because
  /// a publication drops the content for that file.
  package func prepare(_ blob: SealedBlob, replacing: Bool) throws(BlobError) {
    try blob.synchronize()
    if !replacing && blob.prepared > .none { return }
    var isDamaged = replacing
    if !isDamaged, try contains(blob.hash) { isDamaged = try damage(of: blob.hash, bytes: blob.bytes) != nil }
    blob.prepare(isDamaged ? .replaced : .written) { () throws(Never) in }
  }

  package func publish(_ blob: SealedBlob, replacing: Bool) throws(BlobError) {
    CriticalSection.mayWait("the publication of the blob \(blob.hash)")
    let replacing = replacing || blob.prepared == .replaced
    try checkID()
    try blob.synchronize()
    let path = path(of: blob.hash)
    do throws(SystemError) {
      do throws(SystemError) {
        try Failpoint.link.around { () throws(SystemError) in try link(blob, at: path) }
      } catch  where error.code == EEXIST {
        // The blob was published before. A file that a failing disk has truncated or corrupted is replaced atomically.
        let isIntact = replacing ? false : try Self.length(of: path) == blob.bytes
        if !isIntact {
          _ = try blob.file.descriptor.lock(waiting: true)
          // An upload is removed after it was published, under the same lock, while this descriptor is open.
          defer { if blob.name?.isKept == true { flock(blob.file.descriptor.number, LOCK_UN) } }
          let replacement = StagingName(path: Self.newStagingPath(in: folder))
          try link(blob, at: replacement.path)
          try Failpoint.replace.around { () throws(SystemError) in
            guard rename(replacement.path, path) == 0 else { throw SystemError(call: "rename", subject: path) }
          }
        }
      }
      // Also for a file of another process, which may not have synchronized the folder yet.
      try Failpoint.synchronizeFolder.around { () throws(SystemError) in
        try Folder.synchronize("\(folder)/\(Self.prefix(of: blob.hash))")
      }
    } catch {
      // Another request has removed the upload that the blob is of, or used it.
      if error.code == ENOENT, let name = blob.name, access(name.path, F_OK) != 0 { throw .missing(blob.hash) }
      throw .system(error)
    }
  }

  /// The length of a regular file; nil if the path is another kind of file.
  private static func length(of path: String) throws(SystemError) -> Int64? {
    do throws(SystemError) {
      return try Descriptor(readingRegular: path).size()
    } catch {
      guard error.code == EMEDIUMTYPE || error.code == ELOOP else { throw error }
      return nil
    }
  }

  package func open(_ hash: SHA256Digest) throws(BlobError) -> Descriptor {
    CriticalSection.mayWait("the file of the blob \(hash)")
    do throws(SystemError) {
      return try Descriptor(readingRegular: path(of: hash))
    } catch {
      guard error.code == ENOENT else { throw .system(error) }
      // If the store is unavailable, the blob may exist.
      try checkID()
      throw .missing(hash)
    }
  }

  @discardableResult
  package func remove(_ hash: SHA256Digest) throws(BlobError) -> Bool {
    CriticalSection.mayWait("the removal of the blob \(hash)")
    let path = path(of: hash)
    if Failpoint.remove.around({ unlink(path) }) == 0 { return true }
    guard errno == ENOENT else { throw .system(SystemError(call: "unlink", subject: path)) }
    try checkID()
    return false
  }

  package func contains(_ hash: SHA256Digest) throws(BlobError) -> Bool {
    CriticalSection.mayWait("the search for the blob \(hash)")
    let path = path(of: hash)
    if access(path, F_OK) == 0 { return true }
    guard errno == ENOENT else { throw .system(SystemError(call: "access", subject: path)) }
    try checkID()
    return false
  }

  private func link(_ blob: SealedBlob, at path: String) throws(SystemError) {
    if let name = blob.name {
      guard Glibc.link(name.path, path) == 0 else { throw SystemError(call: "link", subject: path) }
      return
    }
    do throws(SystemError) {
      try blob.file.descriptor.link(at: path)
    } catch  where error.code == ENOENT {
      // linkat(2): an O_TMPFILE file that was linked before, in a transaction that failed, and unlinked by the
      // collector cannot be linked again.
      let copy = try Descriptor(unnamedIn: folder)
      try copy.write(contentOf: blob.file.descriptor)
      try copy.synchronize()
      try copy.link(at: path)
    }
  }

  func path(of hash: SHA256Digest) -> String { "\(folder)/\(Self.prefix(of: hash))/\(hash.hex)" }

  private static func prefix(of hash: SHA256Digest) -> Substring { hash.hex.prefix(2) }

  static func prefix(_ number: UInt8) -> String {
    (number < 16 ? "0" : "") + String(number, radix: 16)
  }

  static func newStagingPath(in folder: String) -> String {
    "\(folder)/.staging/\(getpid())-\(String(UInt64.random(in: .min ... .max), radix: 36))"
  }

  // open(2): EOPNOTSUPP if the file system does not support O_TMPFILE, EISDIR or ENOENT if the kernel does not.
  static func probeUnnamedFiles(in folder: String) -> Bool {
    (try? Descriptor(unnamedIn: folder)) != nil
  }

  /// The staged files that no process has open.
  ///
  /// On a file system without locks, these are the files that are older than a day.
  func stagedOrphans(removing: Bool) throws(SystemError) -> [StoredFile] {
    CriticalSection.mayWait("the staged files")
    let oldest = time(nil) - Self.maxStagedAge
    var found: [StoredFile] = []
    for name in try Folder.names(in: stagingFolder) {
      let path = "\(stagingFolder)/\(name)"
      let number = Glibc.open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
      // Otherwise it was published, or removed by another process.
      guard number >= 0, let status = Self.status(path) else { continue }
      let file = Descriptor(owning: number)
      switch try file.lock(waiting: false) {
      case .locked: break
      case .held: continue
      case .unsupported: if status.st_mtim.tv_sec >= oldest { continue }
      }
      if removing, unlink(path) != 0 { continue }
      found.append(StoredFile(path: ".staging/\(name)", bytes: Int64(status.st_size)))
    }
    return found
  }
}
