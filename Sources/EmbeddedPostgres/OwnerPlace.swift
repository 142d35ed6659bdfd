import Glibc

/// The place of the one process that owns the server of a data folder, and who may take it.
///
/// A service serves until it is stopped, a command does one thing and ends. While a service lives, no command takes the
/// place: it would end with the command, under the service.
struct OwnerPlace {
  /// The data folder, resolved.
  let folder: String
  let isService: Bool

  private var ownerFile: String { "\(folder)/postgres.lock" }
  private var serviceFile: String { "\(folder)/postgres.service" }

  /// Takes the place; nil if it is taken, or not for this process to take.
  func take() throws(EmbeddedPostgresError) -> FileLock? {
    if !isService {
      // Another command that looks at the same moment is taken for a service, and there is a next time.
      guard let nobody = try FileLock.take(serviceFile) else { return nil }
      nobody.release()
    }
    return try FileLock.take(ownerFile)
  }

  /// Lets commands know, as long as the lock is held, that a service lives; nil for a command.
  func announceService() throws(EmbeddedPostgresError) -> FileLock? {
    guard isService else { return nil }
    while true {
      if let lock = try FileLock.take(serviceFile, isShared: true) { return lock }
      // A command looks whether there is a service.
      usleep(1_000)
    }
  }

  /// Why the server of another process cannot be had.
  var unreachable: EmbeddedPostgresError {
    EmbeddedPostgresError(
      "another process owns the database in \(folder) or is about to, and the database cannot be reached",
      remedy: "Look at \(folder)/postgres.log, or stop the process that holds \(ownerFile) or \(serviceFile)")
  }
}
