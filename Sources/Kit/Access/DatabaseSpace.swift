internal import HTTPServer
internal import Model
internal import Platform
package import Postgres
internal import Store
package import Telemetry

/// Whether the database has room for what clients want to store. Deletions go on without it.
package final class DatabaseSpace: Sendable {
  /// How that is measured.
  package enum Measure: Sendable {
    /// The free space of the file system with the folder of an embedded database, at least so many bytes.
    case free(folder: String, atLeast: Int64)
    /// The size of a database on another machine, at most so many bytes.
    case size(atMost: Int64)
  }

  /// The pause between two looks.
  private static let interval = Duration.seconds(10)

  private let measure: Measure
  /// Why nothing is stored; nil: there is room, as far as is known.
  private let reason = Locked<String?>(nil)

  package init(_ measure: Measure) { self.measure = measure }

  /// Throws a problem with status 503 if there is no room.
  func check() throws(Problem) {
    guard let reason = reason.withLock(\.self) else { return }
    throw ProblemKind.storageLow.problem(reason, headers: ["Retry-After": "60"])
  }

  /// Looks from time to time, until the task is cancelled.
  package func follow(_ database: Pool, _ log: Logger) async {
    var isSeen = true
    repeat {
      // While it cannot be looked at, what is known counts; a database that is away refuses by itself.
      do {
        let found = try await look(database)
        reason.withLock { $0 = found }
        isSeen = true
      } catch {
        if isSeen, !Task.isCancelled { log.warning("the space of the database is unknown", ["error": "\(error)"]) }
        isSeen = false
      }
    } while (try? await Task.sleep(for: Self.interval)) != nil
  }

  /// Returns why nothing is stored; nil if there is room.
  func look(_ database: Pool) async throws -> String? {
    switch measure {
    case .free(let folder, let least):
      let free = try await onThread("space") { try FileSystem(folder).freeBytes }
      guard free < least else { return nil }
      return "The file system of the database has \(free >> 20) MiB of free space; \(least >> 20) MiB are reserved."
    case .size(let most):
      let size = try await database.run { session in
        try session.execute("SELECT pg_database_size(current_database())").single().get(0, as: Int64.self)
      }
      guard size > most else { return nil }
      return "The database has \(size >> 20) MiB, and \(most >> 20) MiB are permitted."
    }
  }
}
