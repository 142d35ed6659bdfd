import Glibc
import Platform

/// A folder on its own tmpfs, which a test can fill, make read-only or hide. It needs the privileges of root.
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

  /// Mounts a tmpfs on the folder and copies the content of the folder to it.
  package init(_ folder: String, megabytes: Int, mode: String = "0700") throws {
    self.folder = folder
    let aside = "\(folder).aside"
    guard rename(folder, aside) == 0 else { throw SystemError(call: "rename", subject: folder) }
    try Folder.make(folder, mode: 0o700)
    guard mount("tmpfs", folder, "tmpfs", 0, "size=\(megabytes)m,mode=\(mode)") == 0 else {
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

  /// Fills the file system.
  package func fill() throws {
    let ballast = try Descriptor(writing: "\(folder)/.ballast", replacing: true)
    let zeros = [UInt8](repeating: 0, count: 1 << 12)
    // Ends: with the room on the disk.
    while (try? ballast.write(zeros)) != nil {}
  }

  /// Frees the space that `fill()` used.
  package func empty() { unlink("\(folder)/.ballast") }

  /// Makes the file system read-only.
  package func forbidWriting() throws { try remount(UInt(MS_REMOUNT | MS_RDONLY)) }

  /// Makes the file system writable again.
  package func allowWriting() throws { try remount(UInt(MS_REMOUNT)) }

  /// Mounts an empty file system over the folder, as if its file system were not mounted.
  package func hide() throws {
    guard mount("tmpfs", folder, "tmpfs", 0, "size=1m,mode=0700") == 0 else {
      throw SystemError(call: "mount", subject: folder)
    }
  }

  /// Unmounts the empty file system.
  package func show() throws {
    guard umount2(folder, 0) == 0 else { throw SystemError(call: "umount", subject: folder) }
  }

  private func remount(_ flags: UInt) throws {
    guard mount("tmpfs", folder, nil, flags, nil) == 0 else { throw SystemError(call: "mount", subject: folder) }
  }
}
