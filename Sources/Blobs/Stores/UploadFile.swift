package import Crypto
import Glibc
import Platform

/// The open file of an upload.
package final class UploadFile: Sendable {
  /// The state of the file.
  package struct State: Sendable, Hashable {
    /// The number of bytes that have arrived.
    package let offset: Int64
    /// Whether these are all.
    package let isWhole: Bool

    package init(offset: Int64, isWhole: Bool) {
      self.offset = offset
      self.isWhole = isWhole
    }

    init(_ status: stat) {
      offset = Int64(status.st_size)
      isWhole = status.st_mode & S_IWUSR == 0
    }
  }

  private let file: Descriptor
  private let path: String

  init(_ file: consuming Descriptor, path: String) {
    self.file = file
    self.path = path
  }

  /// The state, once what it says is on the disk.
  package func synchronizedState() throws(BlobError) -> State {
    do throws(SystemError) {
      let state = try state()
      try file.synchronize()
      return state
    } catch {
      throw .system(error)
    }
  }

  /// Reserves space for the bytes up to a length, where the file system can.
  package func reserve(_ length: Int64) throws(BlobError) {
    do throws(SystemError) { try file.reserve(length) } catch { throw .system(error) }
  }

  /// Reads bytes at a position; returns 0 behind the last byte that has arrived.
  package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(BlobError) -> Int {
    do throws(SystemError) { return try file.read(into: buffer, at: offset) } catch { throw .system(error) }
  }

  /// Appends bytes, unless others than this writer have appended since, or the file is whole: two writers, also of two
  /// processes, never mix their bytes.
  ///
  /// - Parameter offset: the length of the file as this writer knows it.
  /// - Returns: whether the bytes were appended.
  package func append(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(BlobError) -> Bool {
    try lockedFile { () throws(SystemError) in
      guard try state() == State(offset: offset, isWhole: false) else { return false }
      do throws(SystemError) {
        try file.write(bytes)
      } catch {
        // A write that fails in its middle, on a full disk, leaves no part of the bytes.
        _ = ftruncate(file.number, off_t(offset))
        throw error
      }
      return true
    }
  }

  /// Marks the file as whole, so that no writer appends to it; false if its length is another one, or it has been removed.
  package func complete(at offset: Int64) throws(BlobError) -> Bool {
    try lockedFile { () throws(SystemError) in
      let status = try status()
      guard State(status).offset == offset, status.st_nlink > 0 else { return false }
      guard fchmod(file.number, 0o440) == 0 else { throw SystemError(call: "fchmod", subject: path) }
      try file.synchronize()
      return true
    }
  }

  /// The content as a blob that is not published yet. The upload remains until it is removed.
  ///
  /// - Parameter hash: the hash, if it was computed as the bytes arrived.
  package func sealed(hash: SHA256Digest?) throws(BlobError) -> SealedBlob {
    do throws(SystemError) {
      let hash = if let hash { hash } else { try SHA256.digest(of: file) }
      return SealedBlob(
        hash: hash, bytes: try file.size(), file: OpenFile(try file.duplicate()),
        name: StagingName(path: path, isKept: true))
    } catch {
      throw .system(error)
    }
  }

  private func state() throws(SystemError) -> State { State(try status()) }

  private func status() throws(SystemError) -> stat {
    var status = stat()
    guard fstat(file.number, &status) == 0 else { throw SystemError(call: "fstat", subject: path) }
    return status
  }

  private func lockedFile(_ body: () throws(SystemError) -> Bool) throws(BlobError) -> Bool {
    try locked { () throws(BlobError) in
      do throws(SystemError) { return try body() } catch { throw .system(error) }
    }
  }

  func locked<Result>(_ body: () throws(BlobError) -> Result) throws(BlobError) -> Result {
    do throws(SystemError) { _ = try file.lock(waiting: true) } catch { throw .system(error) }
    defer { flock(file.number, LOCK_UN) }
    return try body()
  }
}
