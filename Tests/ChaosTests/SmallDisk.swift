import Glibc
import Platform
import PostgresTesting

/// A file system in memory that is soon full; root may make one, unless its capabilities were taken away.
final class SmallDisk: Sendable {
  private let folder: TemporaryFolder

  /// Where it is.
  var path: String { folder.path }

  /// Whether this process may make one.
  static let isAllowed = (try? SmallDisk(megabytes: 1)) != nil

  init(megabytes: Int) throws(SystemError) {
    folder = try TemporaryFolder(prefix: "take5-disk")
    guard mount("tmpfs", folder.path, "tmpfs", 0, "size=\(megabytes)m,mode=0711") == 0 else {
      throw SystemError(call: "mount", subject: folder.path)
    }
  }

  deinit { umount2(folder.path, Int32(MNT_DETACH)) }

  /// Takes all the room that is left.
  func fill() throws(SystemError) {
    let ballast = try Descriptor(writing: "\(path)/ballast", replacing: true)
    let zeros = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      do throws(SystemError) {
        try ballast.write(zeros)
      } catch {
        if error.isOutOfSpace { return }
        throw error
      }
    }
  }

  /// Gives it back.
  func empty() { unlink("\(path)/ballast") }
}
