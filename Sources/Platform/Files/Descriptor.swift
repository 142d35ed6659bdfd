internal import CSystem
import Glibc

/// An open file descriptor with one owner, which closes it.
package struct Descriptor: ~Copyable, Sendable {
  /// The number, valid as long as this value exists.
  package let number: Int32

  /// Takes ownership of an open descriptor.
  package init(owning number: Int32) { self.number = number }

  deinit { close(number) }

  /// Returns the number and gives up ownership; the caller closes it.
  package consuming func release() -> Int32 {
    let number = number
    discard self
    return number
  }

  /// Opens a file for reading.
  package init(reading path: String) throws(SystemError) {
    let number = open(path, O_RDONLY | O_CLOEXEC)
    guard number >= 0 else { throw SystemError(call: "open", subject: path) }
    self.init(owning: number)
  }

  /// Opens or creates a file for writing; unless `replacing`, an existing file is an error (EEXIST).
  package init(writing path: String, replacing: Bool, mode: UInt32 = 0o644) throws(SystemError) {
    let number = open(path, O_RDWR | O_CREAT | O_CLOEXEC | (replacing ? O_TRUNC : O_EXCL), mode)
    guard number >= 0 else { throw SystemError(call: "open", subject: path) }
    self.init(owning: number)
  }

  /// Opens an unnamed file in `folder`, which vanishes unless it is linked (open(2), O_TMPFILE).
  package init(unnamedIn folder: String) throws(SystemError) {
    let number = csystem_open_unnamed(folder)
    guard number >= 0 else { throw SystemError(call: "open", subject: folder) }
    self.init(owning: number)
  }

  /// Links an unnamed file at a path; EEXIST if the path exists.
  package borrowing func link(at path: String) throws(SystemError) {
    guard csystem_link_unnamed(number, path) == 0 else { throw SystemError(call: "linkat", subject: path) }
  }

  /// Duplicates the descriptor.
  package borrowing func duplicate() throws(SystemError) -> Descriptor {
    let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { throw SystemError(call: "fcntl") }
    return Descriptor(owning: copy)
  }

  /// The size of the file in bytes.
  package borrowing func size() throws(SystemError) -> Int64 {
    let size = csystem_size(number)
    guard size >= 0 else { throw SystemError(call: "fstat") }
    return size
  }

  /// Waits until written data are on disk (fsync(2)).
  package borrowing func synchronize() throws(SystemError) {
    guard fsync(number) == 0 else { throw SystemError(call: "fsync") }
  }

  /// Reserves space for the first bytes of the file, whose size does not change, where the file system can (fallocate(2)).
  package borrowing func reserve(_ length: Int64) throws(SystemError) {
    guard csystem_reserve(number, length) != 0, errno == ENOSPC else { return }
    throw SystemError(call: "fallocate")
  }

  /// Reads at most `buffer.count` bytes at a position; 0 at the end of the file.
  package borrowing func read(
    into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
  ) throws(SystemError) -> Int {
    while true {
      let count = pread(number, buffer.baseAddress, buffer.count, off_t(offset))
      if count >= 0 { return count }
      if errno != EINTR { throw SystemError(call: "pread") }
    }
  }

  /// Writes all bytes at the current position.
  package borrowing func write(_ bytes: UnsafeRawBufferPointer) throws(SystemError) {
    var rest = bytes
    while !rest.isEmpty {
      let count = Glibc.write(number, rest.baseAddress, rest.count)
      if count >= 0 {
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
      } else if errno != EINTR {
        throw SystemError(call: "write")
      }
    }
  }
}

/// Locks on open files (flock(2)): the kernel releases a lock when the last copy of its descriptor is closed, also
/// when a process dies.
extension Descriptor {
  /// The result of an attempt to lock.
  package enum Locking: Sendable {
    case locked
    /// Another process or open file holds the lock.
    case held
    /// The file system does not support locks.
    case unsupported
  }

  /// Takes an exclusive lock.
  ///
  /// - Parameter waiting: whether to wait for the holder of the lock; the result is never `.held` then.
  package borrowing func lock(waiting: Bool) throws(SystemError) -> Locking {
    while flock(number, LOCK_EX | (waiting ? 0 : LOCK_NB)) != 0 {
      switch errno {
      case EINTR: continue
      case EWOULDBLOCK: return .held
      case ENOLCK, EOPNOTSUPP, ENOSYS, EINVAL: return .unsupported
      default: throw SystemError(call: "flock")
      }
    }
    return .locked
  }

  /// The number of hard links of the file.
  package borrowing func linkCount() throws(SystemError) -> Int {
    var status = stat()
    guard fstat(number, &status) == 0 else { throw SystemError(call: "fstat") }
    return Int(status.st_nlink)
  }
}

/// An open file with several owners; it is closed with the last reference.
package final class OpenFile: Sendable {
  /// The descriptor, valid as long as this object exists.
  package let descriptor: Descriptor

  /// Takes ownership of an open descriptor.
  package init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
}
