import Glibc
import Platform

/// The user who runs the server: PostgreSQL refuses to run as root.
struct ServerUser: Equatable {
  let user: UInt32
  let group: UInt32
  /// Whether this process must become somebody else for it.
  let isSwitched: Bool

  /// The user of this process, or as root the user `postgres`.
  static func current() throws(EmbeddedPostgresError) -> ServerUser {
    guard geteuid() == 0 else { return ServerUser(user: geteuid(), group: getegid(), isSwitched: false) }
    guard let entry = getpwnam("postgres") else {
      throw EmbeddedPostgresError(
        "there is no user postgres, and PostgreSQL does not run as root",
        remedy: "Install PostgreSQL from your distribution, which makes that user, or run as another user than root")
    }
    return ServerUser(user: entry.pointee.pw_uid, group: entry.pointee.pw_gid, isSwitched: true)
  }

  /// Whether this user may pass through every folder down to `path`, by their modes.
  func canReach(_ path: String) -> Bool {
    var folder: String? = path
    while let current = folder {
      var status = stat()
      guard stat(current, &status) == 0 else { return false }
      let mode = status.st_mode
      let bit = status.st_uid == user ? S_IXUSR : status.st_gid == group ? S_IXGRP : S_IXOTH
      guard mode & bit != 0 else { return false }
      folder = Folder.parent(of: current)
    }
    return true
  }

  /// Makes a folder of this user that nobody else can look into.
  func makePrivateFolder(_ path: String) throws(SystemError) {
    try Folder.make(path, mode: 0o700)
    var status = stat()
    guard lstat(path, &status) == 0 else { throw SystemError(call: "lstat", subject: path) }
    // Somebody else's folder or link of that name is not to be trusted with a socket; one of this process was just made.
    let isOurs = status.st_uid == user || (isSwitched && status.st_uid == geteuid())
    guard isOurs, status.st_mode & S_IFMT == S_IFDIR else {
      throw SystemError(call: "mkdir", code: EPERM, subject: path)
    }
    if isSwitched {
      guard lchown(path, user, group) == 0 else { throw SystemError(call: "lchown", subject: path) }
    }
    guard chmod(path, 0o700) == 0 else { throw SystemError(call: "chmod", subject: path) }
  }
}
