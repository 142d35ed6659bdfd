import Glibc
import Platform

extension DoctorCheck {
  /// The folder of temporary files: the sockets of an embedded server whose data folder has a long path, the outputs of
  /// commands, and what `take5 verify` decodes.
  private static let temporaryFolder = "/tmp"

  /// Checks the file systems of the data folder and of temporary files.
  static func disk(_ subject: DoctorSubject) async throws -> [CheckResult] {
    let data = existing(subject.data)
    return [
      inodes(try FileSystem(data), "data", data), inodes(try FileSystem(temporaryFolder), "temporary", temporaryFolder),
      temporary(temporaryFolder, try FileSystem(temporaryFolder), writing(in: temporaryFolder)),
    ]
  }

  /// The nearest folder above a path that exists.
  static func existing(_ path: String) -> String {
    var path = path
    while !Folder.isFolder(path) {
      guard let parent = Folder.parent(of: path) else { return "." }
      path = parent
    }
    return path
  }

  private static func writing(in folder: String) -> SystemError? {
    do throws(SystemError) { _ = try Descriptor(unnamedIn: folder) } catch { return error }
    return nil
  }

  /// Whether files can be created. Some file systems, such as Btrfs, have no fixed number of inodes.
  static func inodes(_ system: FileSystem, _ subject: String, _ folder: String) -> CheckResult {
    let name = "\(subject) inodes"
    guard system.inodes > 0 else { return .ok("disk", name, "the file system of \(folder) has no limit of inodes") }
    let found = "\(system.freeInodes) of \(system.inodes) inodes are free in \(folder)"
    let remedy = "remove files from that file system, or create it again with more inodes"
    if system.freeInodes < 100 { return .error("disk", name, found, remedy: remedy) }
    return system.freeInodes < max(10_000, system.inodes / 100)
      ? .warning("disk", name, found, remedy: remedy) : .ok("disk", name, found)
  }

  /// Whether temporary files can be written, and have room.
  static func temporary(_ folder: String, _ system: FileSystem, _ failure: SystemError?) -> CheckResult {
    let found = "\(system.freeBytes >> 20) MiB are free in \(folder)"
    if let failure {
      return .error(
        "disk", "temporary space", "no file can be written in \(folder): \(failure.reason)",
        remedy: "make \(folder) writable for the user who runs take5, on a file system with unnamed files (O_TMPFILE)")
    }
    return system.freeBytes < 64 << 20
      ? .warning("disk", "temporary space", found, remedy: "free space on the file system of \(folder)")
      : .ok("disk", "temporary space", found)
  }
}
