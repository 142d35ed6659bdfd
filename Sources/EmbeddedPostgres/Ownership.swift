import Glibc
import Platform

/// The ownership of the server of a data folder, which one process has at a time.
///
/// While a service runs, no command becomes the owner: the server would end with the command, while the service uses
/// it.
struct Ownership {
  /// The data folder, absolute and without symbolic links.
  let folder: String
  let isService: Bool

  private var ownerFile: String { "\(folder)/postgres.lock" }
  private var serviceFile: String { "\(folder)/postgres.service" }

  /// Becomes the owner; nil if another process is, or if this process is a command and a service runs.
  func take() throws(EmbeddedPostgresError) -> FileLock? {
    if !isService {
      // A command that checks at the same time looks like a service; the caller tries again.
      guard let lock = try FileLock.take(serviceFile) else { return nil }
      lock.release()
    }
    return try FileLock.take(ownerFile)
  }

  /// Locks the service file, which shows commands that a service runs; nil for a command.
  func lockService() throws(EmbeddedPostgresError) -> FileLock? {
    guard isService else { return nil }
    while true {
      if let lock = try FileLock.take(serviceFile, isShared: true) { return lock }
      // A command holds the lock for a moment while it checks.
      usleep(1_000)
    }
  }

  /// The error of a database whose owner is another process and that cannot be reached.
  var unreachable: EmbeddedPostgresError {
    EmbeddedPostgresError(
      "another process owns the database in \(folder), and the database cannot be reached",
      remedy: "See \(folder)/postgres.log, or stop the process that has locked \(ownerFile) or \(serviceFile)")
  }
}

/// A lock on a file of a data folder; the kernel releases it when the process ends (flock(2)).
final class FileLock: Sendable {
  private let file: Descriptor
  private let held = Locked(true)

  private init(_ file: consuming Descriptor) { self.file = file }

  /// Takes the lock without waiting; nil if another process holds a conflicting one.
  static func take(_ path: String, isShared: Bool = false) throws(EmbeddedPostgresError) -> FileLock? {
    let number = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard number >= 0 else {
      throw EmbeddedPostgresError(
        "\(SystemError(call: "open", subject: path))",
        remedy: "Run as the owner of the data folder, or choose another folder with --data")
    }
    let file = Descriptor(owning: number)
    guard flock(file.number, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0 else {
      if errno == EWOULDBLOCK { return nil }
      throw EmbeddedPostgresError(SystemError(call: "flock", subject: path))
    }
    return FileLock(file)
  }

  /// Releases the lock after a last action; further calls do nothing.
  func release(after action: () -> Void = {}) {
    held.withLock { held in
      guard held else { return }
      action()
      _ = flock(file.number, LOCK_UN)
      held = false
    }
  }
}
