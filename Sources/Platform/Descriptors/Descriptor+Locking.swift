import Glibc

/// Locks on open files (flock(2)): every copy of the descriptor holds them, and they fall with the last one, whatever its
/// process died of.
extension Descriptor {
  /// What became of an attempt to lock.
  package enum Locking: Sendable {
    case locked
    /// Somebody else holds the lock.
    case held
    /// The file system knows no such locks.
    case unsupported
  }

  /// Locks the file for this one alone.
  ///
  /// - Parameter waiting: whether to wait for whoever holds it; `.held` is not answered then.
  package borrowing func lock(waiting: Bool) throws(SystemError) -> Locking {
    while flock(number, LOCK_EX | (waiting ? 0 : LOCK_NB)) != 0 {
      switch errno {
      case EINTR: continue
      case EWOULDBLOCK: return .held
      case ENOLCK, EOPNOTSUPP, ENOSYS, EINVAL: return .unsupported
      default: throw SystemError(call: "flock")
      }
    }
    return .locked
  }

  /// How many names the file has.
  package borrowing func linkCount() throws(SystemError) -> Int {
    var status = stat()
    guard fstat(number, &status) == 0 else { throw SystemError(call: "fstat") }
    return Int(status.st_nlink)
  }
}
