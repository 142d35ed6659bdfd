import Glibc
import Platform

/// A folder that is a file system of its own, in memory, as root may make one: it gets full, read-only or goes away.
package final class MountedFolder: Sendable {
  private let folder: String

  /// Whether this process may mount.
  package static let isAllowed: Bool = {
    var template = Array("/tmp/take5-mount-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { return false }
    let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    defer { try? Folder.remove(path) }
    return (try? MountedFolder(path, megabytes: 1)) != nil
  }()

  /// Moves what lies in the folder onto the file system.
  package init(_ folder: String, megabytes: Int) throws {
    self.folder = folder
    let aside = "\(folder).aside"
    guard rename(folder, aside) == 0 else { throw SystemError(call: "rename", subject: folder) }
    try Folder.make(folder, mode: 0o700)
    guard mount("tmpfs", folder, "tmpfs", 0, "size=\(megabytes)m,mode=0700") == 0 else {
      let error = SystemError(call: "mount", subject: folder)
      rmdir(folder)
      rename(aside, folder)
      throw error
    }
    let copy = try ChildProcess(.init(path: "/bin/cp", arguments: ["-a", "\(aside)/.", folder]))
    guard copy.wait() == .exited(0) else { throw SystemError(call: "cp", subject: folder) }
    try Folder.remove(aside)
  }

  deinit { umount2(folder, Int32(MNT_DETACH)) }

  /// Takes all the room that is left.
  package func fill() throws {
    let ballast = try Descriptor(writing: "\(folder)/.ballast", replacing: true)
    let zeros = [UInt8](repeating: 0, count: 1 << 12)
    while (try? ballast.write(zeros)) != nil {}
  }

  /// Gives it back.
  package func empty() { unlink("\(folder)/.ballast") }

  /// From now on it is read-only.
  package func forbidWriting() throws { try remount(UInt(MS_REMOUNT | MS_RDONLY)) }

  /// It can be written again.
  package func allowWriting() throws { try remount(UInt(MS_REMOUNT)) }

  /// An empty file system lies over it, as if the right one were not mounted.
  package func hide() throws {
    guard mount("tmpfs", folder, "tmpfs", 0, "size=1m,mode=0700") == 0 else {
      throw SystemError(call: "mount", subject: folder)
    }
  }

  /// It is seen again.
  package func show() throws {
    guard umount2(folder, 0) == 0 else { throw SystemError(call: "umount", subject: folder) }
  }

  private func remount(_ flags: UInt) throws {
    guard mount("tmpfs", folder, nil, flags, nil) == 0 else { throw SystemError(call: "mount", subject: folder) }
  }
}
