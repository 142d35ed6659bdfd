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

  /// Opens a regular file for reading, and nothing else (EMEDIUMTYPE): the opening of a FIFO waits for a writer, and a device
  /// may do anything. A symbolic link is not followed (ELOOP).
  package init(readingRegular path: String) throws(SystemError) {
    let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
    guard number >= 0 else {
      // ENXIO: a socket, or a device without a driver.
      throw SystemError(call: "open", code: errno == ENXIO ? EMEDIUMTYPE : errno, subject: path)
    }
    guard fileType(of: number) == S_IFREG else {
      close(number)
      throw SystemError(call: "open", code: EMEDIUMTYPE, subject: path)
    }
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

  /// Whether the kernel has a range of the file in memory (mincore(2)), so that reading it does not wait for a disk.
  package borrowing func isInMemory(_ range: Range<Int64>) -> Bool {
    let page = Int64(sysconf(Int32(_SC_PAGESIZE)))
    let start = range.lowerBound / page * page
    let count = Int(range.upperBound - start)
    guard count > 0, let pages = mmap(nil, count, PROT_READ, MAP_SHARED, number, off_t(start)), pages != MAP_FAILED
    else {
      return count == 0
    }
    defer { munmap(pages, count) }
    return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: (count - 1) / Int(page) + 1) { states in
      mincore(pages, count, states.baseAddress) == 0 && states.allSatisfy { $0 & 1 == 1 }
    }
  }

  /// Reads a range of the file, up to its end, so that the kernel has it in memory.
  package borrowing func load(_ range: Range<Int64>) throws(SystemError) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 64)
    defer { buffer.deallocate() }
    var offset = range.lowerBound
    while offset < range.upperBound {
      let count = try read(into: buffer, at: offset)
      if count == 0 { return }
      offset += Int64(count)
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

/// The type of an open file (inode(7)); nil if it is not known.
private func fileType(of number: Int32) -> mode_t? {
  var status = stat()
  return fstat(number, &status) == 0 ? status.st_mode & S_IFMT : nil
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
