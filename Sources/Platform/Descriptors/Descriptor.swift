internal import CSystem
import Glibc

/// An open file descriptor that has one owner, who closes it.
package struct Descriptor: ~Copyable, Sendable {
  /// The number, valid while this value lives.
  package let number: Int32

  /// Takes ownership of an open descriptor.
  package init(owning number: Int32) { self.number = number }

  deinit { close(number) }

  /// Gives the number away; the receiver closes it.
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

  /// Opens or makes a file for writing; with `replacing` false an existing one is an error (EEXIST).
  package init(writing path: String, replacing: Bool, mode: UInt32 = 0o644) throws(SystemError) {
    let number = open(path, O_RDWR | O_CREAT | O_CLOEXEC | (replacing ? O_TRUNC : O_EXCL), mode)
    guard number >= 0 else { throw SystemError(call: "open", subject: path) }
    self.init(owning: number)
  }

  /// Opens a file without a name in `folder`: whatever dies, nothing stays behind (open(2), O_TMPFILE).
  package init(unnamedIn folder: String) throws(SystemError) {
    let number = csystem_open_unnamed(folder)
    guard number >= 0 else { throw SystemError(call: "open", subject: folder) }
    self.init(owning: number)
  }

  /// Gives a file opened without a name its name; EEXIST if something has it already.
  package borrowing func link(at path: String) throws(SystemError) {
    guard csystem_link_unnamed(number, path) == 0 else { throw SystemError(call: "linkat", subject: path) }
  }

  /// A second descriptor of the same open file.
  package borrowing func duplicate() throws(SystemError) -> Descriptor {
    let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
    guard copy >= 0 else { throw SystemError(call: "fcntl") }
    return Descriptor(owning: copy)
  }

  /// The size of the file in bytes.
  package borrowing func size() throws(SystemError) -> Int64 {
    var status = stat()
    guard fstat(number, &status) == 0 else { throw SystemError(call: "fstat") }
    return Int64(status.st_size)
  }

  /// Waits until what was written lies on the disk.
  package borrowing func synchronize() throws(SystemError) {
    guard fsync(number) == 0 else { throw SystemError(call: "fsync") }
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
