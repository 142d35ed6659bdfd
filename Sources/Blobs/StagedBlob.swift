package import Crypto
import Glibc
package import Platform

/// A blob that is being written, by this process or by another one that has the descriptor.
package struct StagedBlob: ~Copyable, Sendable {
  /// The file, for reading and writing, for a writer that seeks: another process, a muxer.
  package let file: OpenFile
  private let name: StagingName?
  private var hasher = SHA256()
  private var appended: Int64 = 0

  init(_ file: consuming Descriptor, name: StagingName?) {
    self.file = OpenFile(file)
    self.name = name
  }

  /// The number of bytes that were appended.
  package var count: Int64 { appended }

  /// Appends bytes, and hashes them.
  package mutating func append(_ bytes: UnsafeRawBufferPointer) throws(BlobError) {
    do throws(SystemError) { try file.descriptor.write(bytes) } catch { throw .system(error) }
    hasher.update(bytes)
    appended += Int64(bytes.count)
  }

  /// Ends writing.
  ///
  /// - Parameter writtenElsewhere: whether another writer had the descriptor: the digest is then computed from the
  ///   file.
  package consuming func seal(writtenElsewhere: Bool = false) throws(BlobError) -> SealedBlob {
    do throws(SystemError) {
      let bytes = try file.descriptor.size()
      let isHashed = !writtenElsewhere && bytes == appended
      let hash = isHashed ? hasher.finalize() : try SHA256.digest(of: file.descriptor)
      return SealedBlob(hash: hash, bytes: bytes, file: file, name: name)
    } catch {
      throw .system(error)
    }
  }
}

/// A blob with its final content and hash that is not published yet; it is deleted with its last reference.
package final class SealedBlob: Sendable {
  package let hash: SHA256Digest
  /// The length.
  package let bytes: Int64
  let file: OpenFile
  let name: StagingName?
  private let isOnDisk = Locked(false)
  private let preparation = Locked(Preparation.none)
  private let preparedCopy = Locked<SealedBlob?>(nil)
  private let published = Locked<Publication?>(nil)
  private let loaded = Locked<[UInt8]?>(nil)

  init(hash: SHA256Digest, bytes: Int64, file: OpenFile, name: StagingName?) {
    self.hash = hash
    self.bytes = bytes
    self.file = file
    self.name = name
  }

  /// Waits until the content is on the disk. `publish` does this too.
  package func synchronize() throws(BlobError) {
    do throws(SystemError) {
      if isOnDisk.withLock({ $0 }) { return }
      CriticalSection.mayWait("the writing of the blob \(hash) to the disk")
      try Failpoint.synchronize.around { () throws(SystemError) in try file.descriptor.synchronize() }
      isOnDisk.withLock { $0 = true }
    } catch {
      throw .system(error)
    }
  }

  /// The steps that a publication of a blob has taken.
  package enum Preparation: Int, Sendable, Comparable {
    case none
    /// It is written where it was not.
    case written
    /// It is written, also where it was.
    case replaced

    package static func < (left: Preparation, right: Preparation) -> Bool { left.rawValue < right.rawValue }
  }

  /// The steps that the publication of the blob has taken.
  package var prepared: Preparation { preparation.withLock(\.self) }

  /// Does something for the publication of the blob unless it was done before.
  package func prepare<Failure: Error>(
    _ wanted: Preparation, _ body: () throws(Failure) -> Void
  ) throws(Failure) {
    if prepared >= wanted { return }
    try body()
    preparation.withLock { $0 = wanted }
  }

  /// Forgets what was done: it was undone.
  package func unprepare() { preparation.withLock { $0 = .none } }

  /// The copy of the blob that is ready for a second store.
  var copy: SealedBlob? {
    get { preparedCopy.withLock(\.self) }
    set { preparedCopy.withLock { $0 = newValue } }
  }

  /// The publication of a blob before the transaction that refers to it.
  package struct Publication: Sendable {
    /// The count of removals, of this content among others, before the publication: if it is another one in the transaction, the
    /// content may have been removed since.
    package let removals: Int64
    /// Whether content that was damaged was replaced.
    package let isReplacement: Bool
    /// Whether a transaction has referred to it.
    package var isReferenced = false

    package init(removals: Int64, isReplacement: Bool) {
      self.removals = removals
      self.isReplacement = isReplacement
    }
  }

  /// The last publication of the blob; nil: there was none.
  package var publication: Publication? {
    get { published.withLock(\.self) }
    set { published.withLock { $0 = newValue } }
  }

  /// Another descriptor of the file, for reading.
  package func duplicate() throws(BlobError) -> Descriptor {
    do throws(SystemError) { return try file.descriptor.duplicate() } catch { throw .system(error) }
  }

  /// Reads the entire content, unless it was loaded.
  package func content() throws(BlobError) -> [UInt8] {
    if let content = loaded.withLock(\.self) { return content }
    CriticalSection.mayWait("the content of the blob \(hash)")
    do throws(SystemError) { return try file.descriptor.contents() } catch { throw .system(error) }
  }

  /// Reads the entire content of a small blob into memory, before a transaction that stores it in the database.
  package func load() throws(BlobError) {
    let content = try content()
    loaded.withLock { $0 = content }
  }
}

extension SealedBlob {
  /// Reads `count` bytes at an offset, fewer only at the end.
  package func bytes(count: Int, at offset: Int64) throws(BlobError) -> [UInt8] {
    CriticalSection.mayWait("the content of the blob \(hash)")
    do throws(SystemError) { return try file.descriptor.bytes(count: count, at: offset) } catch { throw .system(error) }
  }
}

/// The name of a staged file on a file system without O_TMPFILE, removed with the last reference; or the name of an upload, which
/// is kept.
final class StagingName: Sendable {
  let path: String
  let isKept: Bool

  init(path: String, isKept: Bool = false) {
    self.path = path
    self.isKept = isKept
  }

  deinit { if !isKept { _ = unlink(path) } }
}

extension Failpoint {
  static let stage = Failpoint("blob.stage")
  static let synchronize = Failpoint("blob.synchronize")
  static let link = Failpoint("blob.link")
  static let replace = Failpoint("blob.replace")
  static let synchronizeFolder = Failpoint("blob.synchronize_folder")
  static let remove = Failpoint("blob.remove")

  /// The failpoints of a blob store.
  package static let blobs = [stage, synchronize, link, replace, synchronizeFolder, remove]
}
