import Glibc

/// The room in a file system (statvfs(3)).
package struct FileSystem: Sendable, Hashable {
  /// The bytes that an ordinary user may use.
  package var freeBytes: Int64
  /// 0 if the file system has no fixed number of inodes.
  package var inodes: UInt64
  /// The inodes that an ordinary user may use.
  package var freeInodes: UInt64

  package init(freeBytes: Int64, inodes: UInt64, freeInodes: UInt64) {
    self.freeBytes = freeBytes
    self.inodes = inodes
    self.freeInodes = freeInodes
  }

  /// - Parameter folder: any folder of the file system.
  package init(_ folder: String) throws(SystemError) {
    var status = statvfs()
    guard statvfs(folder, &status) == 0 else { throw SystemError(call: "statvfs", subject: folder) }
    // Some file systems of a network have as many blocks as the number can say.
    let (bytes, overflow) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
    self.init(
      freeBytes: overflow ? .max : Int64(clamping: bytes), inodes: UInt64(status.f_files),
      freeInodes: UInt64(status.f_favail))
  }
}
