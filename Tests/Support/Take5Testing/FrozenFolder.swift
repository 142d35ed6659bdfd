import Glibc
import Platform

/// A folder on an ext4 of its own, whose writing calls do not return while it is frozen, as those of a disk that hangs (fsfreeze(8)). It
/// needs the privileges of root and a loop device.
package final class FrozenFolder: Sendable {
  private static let freeze = UInt(0xC004_5877)
  private static let thaw = UInt(0xC004_5878)

  private let folder: String
  private let directory: OpenFile

  /// Whether this process may mount.
  package static let isAllowed: Bool = {
    var template = Array("/tmp/take5-frozen-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { return false }
    let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    defer { try? Folder.remove(path) }
    guard (try? Folder.make("\(path)/folder")) != nil else { return false }
    return (try? FrozenFolder("\(path)/folder", image: "\(path)/image")) != nil
  }()

  /// Mounts the file system on the folder and copies the content of the folder to it.
  ///
  /// - Parameter image: the path of its bytes, a new file.
  package init(_ folder: String, image: String) throws {
    self.folder = folder
    let aside = "\(folder).aside"
    guard rename(folder, aside) == 0 else { throw SystemError(call: "rename", subject: folder) }
    try Folder.make(folder, mode: 0o700)
    let file = try Descriptor(writing: image, replacing: false)
    guard ftruncate(file.number, 64 << 20) == 0 else { throw SystemError(call: "ftruncate", subject: image) }
    try Self.run("/sbin/mkfs.ext4", ["-q", image])
    try Self.run("/bin/mount", ["-o", "loop", image, folder])
    rmdir("\(folder)/lost+found")
    try Self.run("/bin/cp", ["-a", "\(aside)/.", folder])
    try Folder.remove(aside)
    directory = OpenFile(try Descriptor(reading: folder))
  }

  deinit {
    _ = try? setFrozen(false)
    umount2(folder, Int32(MNT_DETACH))
  }

  private static func run(_ program: String, _ arguments: [String]) throws {
    guard try ChildProcess(.init(path: program, arguments: arguments)).wait() == .exited(0) else {
      throw SystemError(call: "exec", code: ECHILD, subject: program)
    }
  }

  /// Lets writing calls hang, or return.
  package func setFrozen(_ isFrozen: Bool) throws {
    guard ioctl(directory.descriptor.number, isFrozen ? Self.freeze : Self.thaw, 0) == 0 else {
      throw SystemError(call: "ioctl", subject: folder)
    }
  }
}
