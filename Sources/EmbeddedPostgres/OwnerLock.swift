import Glibc
import Platform

/// The lock on a data folder that makes a process the owner of its server; it falls when the process dies (flock(2)).
final class OwnerLock: Sendable {
  private let file: Descriptor
  private let held = Locked(true)

  private init(_ file: consuming Descriptor) { self.file = file }

  /// Whether it has not been released.
  var isHeld: Bool { held.withLock { $0 } }

  /// Takes the lock; nil if another process has it.
  static func take(_ path: String) throws(EmbeddedPostgresError) -> OwnerLock? {
    let number = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard number >= 0 else {
      throw EmbeddedPostgresError(
        "\(SystemError(call: "open", subject: path))",
        remedy: "Run as the user who made the data folder, or choose another one with --data")
    }
    let file = Descriptor(owning: number)
    guard flock(file.number, LOCK_EX | LOCK_NB) == 0 else {
      if errno == EWOULDBLOCK { return nil }
      throw EmbeddedPostgresError(SystemError(call: "flock", subject: path))
    }
    return OwnerLock(file)
  }

  /// Lets another process become the owner.
  func release() {
    held.withLock { held in
      if held { _ = flock(file.number, LOCK_UN) }
      held = false
    }
  }
}
