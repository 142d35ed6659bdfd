import Glibc
import Platform

/// A lock on a file of a data folder; it falls when the process dies, whatever it dies of (flock(2)).
final class FileLock: Sendable {
  private let file: Descriptor
  private let held = Locked(true)

  private init(_ file: consuming Descriptor) { self.file = file }

  /// Takes the lock; nil if another one is in the way.
  ///
  /// - Parameter isShared: whether others may have it too, as long as theirs are shared.
  static func take(_ path: String, isShared: Bool = false) throws(EmbeddedPostgresError) -> FileLock? {
    let number = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard number >= 0 else {
      throw EmbeddedPostgresError(
        "\(SystemError(call: "open", subject: path))",
        remedy: "Run as the user who made the data folder, or choose another one with --data")
    }
    let file = Descriptor(owning: number)
    guard flock(file.number, (isShared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0 else {
      if errno == EWOULDBLOCK { return nil }
      throw EmbeddedPostgresError(SystemError(call: "flock", subject: path))
    }
    return FileLock(file)
  }

  /// Lets others have it, after something that has to happen while it is held; once.
  func release(after last: () -> Void = {}) {
    held.withLock { held in
      guard held else { return }
      last()
      _ = flock(file.number, LOCK_UN)
      held = false
    }
  }
}
