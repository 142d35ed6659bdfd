package import Crypto
import Glibc
package import Model
package import Platform

/// Blobs as files `ab/<sha256>` in a folder, made durable before they are seen.
package struct FolderBlobStore: BlobStore {
  let folder: String
  /// What its marker says: another store's folder, or one that nothing is mounted on, has another or none.
  package let id: PublicID
  private let hasUnnamedFiles: Bool

  // Names of staged files, where the file system has no files without a name, lie here until they are published.
  private var stagingFolder: String { "\(folder)/.staging" }
  private static let oldestStaged: Int = 24 * 60 * 60

  /// Opens the store, making what is missing and sweeping what dead processes staged.
  ///
  /// - Parameter id: for a folder that has no marker yet.
  package init(folder: String, id: PublicID = .now()) throws(BlobError) {
    try self.init(folder: folder, id: id, allowsUnnamedFiles: true)
  }

  init(folder: String, id: PublicID = .now(), allowsUnnamedFiles: Bool) throws(BlobError) {
    do throws(SystemError) {
      try Folder.make(folder, mode: 0o700)
      // All folders at once: a blob's name then never waits for the durability of its folder's.
      for number in 0..<256 { try Folder.make("\(folder)/\(Self.prefix(UInt8(number)))", mode: 0o700) }
      try Folder.make("\(folder)/.staging", mode: 0o700)
      self.folder = folder
      hasUnnamedFiles = allowsUnnamedFiles && Self.probeUnnamedFiles(in: folder)
      self.id = try Self.mark(folder, id)
      try Folder.synchronize(folder)
      // Where it fails the next opening sees to it.
      _ = try? leftovers(removing: true)
    } catch {
      throw .system(error)
    }
  }

  package func stage() throws(BlobError) -> StagedBlob {
    try checkMarker()
    do throws(SystemError) {
      return try Failpoint.stage.around { () throws(SystemError) in
        if hasUnnamedFiles { return StagedBlob(try Descriptor(unnamedIn: folder), name: nil) }
        while true {
          let name = StagingName(path: newStagingPath())
          let file = try Descriptor(writing: name.path, replacing: false, mode: 0o640)
          // The lock says that the file is somebody's, as long as anybody has it open. A sweeper that came in between has
          // taken it away by now.
          _ = try file.lock(waiting: true)
          if try file.linkCount() > 0 { return StagedBlob(file, name: name) }
        }
      }
    } catch {
      throw .system(error)
    }
  }

  package func freeBytes() throws(BlobError) -> Int64? {
    var facts = statvfs()
    guard statvfs(folder, &facts) == 0 else { throw .system(SystemError(call: "statvfs", subject: folder)) }
    return Int64(clamping: UInt64(facts.f_bavail) * UInt64(facts.f_frsize))
  }

  package func publish(_ blob: SealedBlob, replacing: Bool) throws(BlobError) {
    try checkMarker()
    try blob.synchronize()
    let path = path(of: blob.hash)
    do throws(SystemError) {
      do throws(SystemError) {
        try Failpoint.link.around { () throws(SystemError) in try link(blob, at: path) }
      } catch  where error.code == EEXIST {
        // Somebody published the same bytes. A file that a failing disk has cut short or spoiled is replaced as a whole:
        // whoever reads it sees the one or the other.
        let isKept = if replacing { false } else { try Descriptor(reading: path).size() == blob.bytes }
        if !isKept {
          _ = try blob.file.lock(waiting: true)
          let whole = StagingName(path: newStagingPath())
          try link(blob, at: whole.path)
          try Failpoint.replace.around { () throws(SystemError) in
            guard rename(whole.path, path) == 0 else { throw SystemError(call: "rename", subject: path) }
          }
        }
      }
      // Also for a file of somebody else's, who may not have come so far yet.
      try Failpoint.synchronizeFolder.around { () throws(SystemError) in
        try Folder.synchronize("\(folder)/\(Self.prefix(of: blob.hash))")
      }
    } catch {
      throw .system(error)
    }
  }

  package func open(_ hash: SHA256Digest) throws(BlobError) -> Descriptor {
    do throws(SystemError) {
      return try Descriptor(reading: path(of: hash))
    } catch {
      guard error.code == ENOENT else { throw .system(error) }
      // Of a store that is not there no file is found, and none is lost.
      try checkMarker()
      throw .missing(hash)
    }
  }

  @discardableResult
  package func remove(_ hash: SHA256Digest) throws(BlobError) -> Bool {
    let path = path(of: hash)
    if Failpoint.remove.around({ unlink(path) }) == 0 { return true }
    guard errno == ENOENT else { throw .system(SystemError(call: "unlink", subject: path)) }
    try checkMarker()
    return false
  }

  package func contains(_ hash: SHA256Digest) throws(BlobError) -> Bool {
    let path = path(of: hash)
    if access(path, F_OK) == 0 { return true }
    guard errno == ENOENT else { throw .system(SystemError(call: "access", subject: path)) }
    try checkMarker()
    return false
  }

  private func link(_ blob: SealedBlob, at path: String) throws(SystemError) {
    if let name = blob.name {
      guard Glibc.link(name.path, path) == 0 else { throw SystemError(call: "link", subject: path) }
      return
    }
    do throws(SystemError) {
      try blob.file.link(at: path)
    } catch  where error.code == ENOENT {
      // It was published before, in a transaction that failed, and then collected: such a file cannot be linked again.
      let copy = try Descriptor(unnamedIn: folder)
      try copy.write(contentOf: blob.file)
      try copy.synchronize()
      try copy.link(at: path)
    }
  }

  func path(of hash: SHA256Digest) -> String { "\(folder)/\(Self.prefix(of: hash))/\(hash.hex)" }

  private static func prefix(of hash: SHA256Digest) -> Substring { hash.hex.prefix(2) }

  static func prefix(_ number: UInt8) -> String {
    (number < 16 ? "0" : "") + String(number, radix: 16)
  }

  private func newStagingPath() -> String {
    "\(stagingFolder)/\(getpid())-\(String(UInt64.random(in: .min ... .max), radix: 36))"
  }

  // open(2): EOPNOTSUPP where the file system cannot; EISDIR and ENOENT where the kernel does not know the flag.
  private static func probeUnnamedFiles(in folder: String) -> Bool {
    (try? Descriptor(unnamedIn: folder)) != nil
  }

  /// The staged files that nobody has open any more.
  ///
  /// Where the file system knows no locks only their age can tell: nobody stages for a day.
  func leftovers(removing: Bool) throws(SystemError) -> [StoredFile] {
    let limit = time(nil) - Self.oldestStaged
    var found: [StoredFile] = []
    for name in try Folder.names(in: stagingFolder) {
      let path = "\(stagingFolder)/\(name)"
      let number = Glibc.open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
      // It is published, or swept by another.
      guard number >= 0, let status = Self.status(path) else { continue }
      let file = Descriptor(owning: number)
      switch try file.lock(waiting: false) {
      case .locked: break
      case .held: continue
      case .unsupported: if status.st_mtim.tv_sec >= limit { continue }
      }
      if removing, unlink(path) != 0 { continue }
      found.append(StoredFile(path: ".staging/\(name)", bytes: Int64(status.st_size)))
    }
    return found
  }
}
