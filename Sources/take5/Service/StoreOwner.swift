import Glibc
import Platform

/// The user to whom a store belongs.
struct StoreOwner: Sendable {
  let user: uid_t
  let group: gid_t

  /// The owner of a file or folder; nil if it cannot be found.
  private init?(of path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    (user, group) = (status.st_uid, status.st_gid)
  }

  /// The name of the user, or the number of one without a name.
  var name: String { Self.name(of: user) }

  /// The name of the user of this process.
  static var current: String { name(of: geteuid()) }

  private static func name(of user: uid_t) -> String {
    getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? "\(user)"
  }

  /// The failure of a command that may not use the folder of a store; nil if it may, or if there is no such folder.
  static func denial(of folder: String) -> CommandFailure? {
    if geteuid() == 0 { return denialOfRoot(folder) }
    guard access(folder, R_OK | W_OK | X_OK) != 0, errno == EACCES else { return nil }
    let user = current
    guard let owner = StoreOwner(of: folder) else {
      return CommandFailure(
        .io, "user \(user) may not look for the store in \(folder)", remedy: "run the command as the user of the store")
    }
    return CommandFailure(
      .io, "the store in \(folder) belongs to user \(owner.name), and user \(user) may not use it",
      remedy: "run the command as that user: sudo -u \(owner.name) take5 …")
  }
}

/// What root refuses: a store in which another user could replace a file by a symbolic link, behind which root would write.
extension StoreOwner {
  private static let parts = ["postgres.lock", "blobs", "blob-cache", "uploads"]

  private static func denialOfRoot(_ folder: String) -> CommandFailure? {
    for path in [folder] + parts.map({ "\(folder)/\($0)" }) {
      // A link of root's may lead to another disk, where the same holds.
      for flags in [AT_SYMLINK_NOFOLLOW, 0] {
        var status = stat()
        guard fstatat(AT_FDCWD, path, &status, flags) == 0 else { continue }
        guard status.st_uid == 0 else {
          let owner = name(of: status.st_uid)
          return CommandFailure(
            .io, "\(path) belongs to user \(owner), and root does not use the store of another user",
            remedy: "run the command as that user: sudo -u \(owner) take5 …")
        }
        let isWritable = status.st_mode & S_IWOTH != 0 || status.st_mode & S_IWGRP != 0 && status.st_gid != 0
        if isWritable && status.st_mode & S_IFMT != S_IFLNK {
          return CommandFailure(
            .io, "\(path) can be written by other users, and root does not use such a store",
            remedy: "take the right away: chmod go-w \(path)")
        }
      }
    }
    return nil
  }
}

/// What root does for a store of another user: the command runs as that user, who could not read what root writes.
extension StoreOwner {
  /// The owner of a store, if this process is root's and the store another user's; otherwise nil.
  ///
  /// - Parameter folder: the data folder; if it does not exist, nil.
  static func unlessRoot(of folder: String) -> StoreOwner? {
    guard geteuid() == 0 else { return nil }
    // A service of root may have used a folder of another user: what it has written shows that.
    let written = parts.map { "\(folder)/\($0)" }
    let owner = (written + [folder]).lazy.compactMap { StoreOwner(of: $0) }.first
    return owner.flatMap { $0.user == 0 ? nil : $0 }
  }

  /// The user who is to own a new store: the owner of its backup, if this process is root's; otherwise nil.
  ///
  /// - Parameter data: the data folder; nil if it exists.
  static func unlessRoot(of backup: String, creating data: String) -> StoreOwner? {
    Folder.isFolder(data) ? nil : unlessRoot(of: backup)
  }

  /// Gives a folder that is missing or empty to the owner; another one stays as it is.
  func takeEmpty(_ folder: String) throws {
    try Folder.make(folder, mode: 0o700)
    guard try Folder.names(in: folder).allSatisfy({ $0 == "lost+found" }) else { return }
    guard chown(folder, user, group) == 0 else { throw SystemError(call: "chown", subject: folder) }
  }

  /// The environment of a command that runs as the owner. Libraries look for certificates, passwords and keys in the home of the user,
  /// and the owner may not read root's: libpq fails there, before it connects.
  ///
  /// - Parameter root: the environment of this process.
  func environment(from root: [String: String]) -> [String: String] {
    var result = root
    let entry = getpwuid(user)
    result["HOME"] = entry.map { String(cString: $0.pointee.pw_dir) }
    result["USER"] = name
    result["LOGNAME"] = name
    return result
  }

  /// Runs this command again, as the owner, and returns its status.
  func run() async throws -> ExitStatus {
    var configuration = ChildProcess.Configuration(
      path: ThisProcess.executable, arguments: Array(CommandLine.arguments.dropFirst()))
    configuration.name = "take5"
    configuration.environment = environment(from: Environment.variables())
    configuration.descriptors = [0, 1, 2]
    configuration.user = (user, group)
    configuration.parentDeathSignal = SIGTERM
    // Ctrl-C reaches this process alone, which passes it on: the second signal would end the other one at once.
    configuration.newSession = true
    let ending = try await ProgramGroup.run { [configuration] programs in try programs.run(configuration) }
    try Task.checkCancellation()
    guard case .exited(let number) = ending, let status = ExitStatus(rawValue: number) else {
      throw CommandFailure(.internal, "the command \(ending.reason) as user \(name)")
    }
    return status
  }
}
