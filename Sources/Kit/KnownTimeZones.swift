import Platform
package import Postgres

/// The names of the time zones that the database server knows. They are read once: the server opens hundreds of files to
/// list them.
package final class KnownTimeZones: Sendable {
  // As bytes: Swift compares texts by their characters, PostgreSQL by their code points.
  private let names = Locked<Set<[UInt8]>?>(nil)

  package init() {}

  /// Whether the server knows a time zone of this name.
  package func contain(_ zone: String, _ session: Session) throws -> Bool {
    let names = try self.names.withLock { $0 } ?? read(session)
    return names.contains(Array(zone.utf8))
  }

  private func read(_ session: Session) throws -> Set<[UInt8]> {
    let read = Set(
      try session.execute(Keys.statements["zones"]).map { Array(try $0.get("name", as: String.self).utf8) })
    names.withLock { $0 = read }
    return read
  }
}
