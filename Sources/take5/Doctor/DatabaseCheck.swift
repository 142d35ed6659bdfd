import EmbeddedPostgres
import Model
import Postgres
import Rooms
import Store

extension DoctorCheck {
  /// Checks that the database can be reached, and that a service can use it.
  static func database(_ subject: DoctorSubject) async throws -> [CheckResult] {
    switch subject.database {
    case .success(let access):
      let facts = try await access.pool.run { session in try DatabaseFacts(session) }
      return results(
        facts, at: access.isEmbedded ? "the embedded server" : access.url.description, isEmbedded: access.isEmbedded)
    // An embedded database that the first start of a service creates.
    case .failure(let failure) where failure.status == .inputMissing:
      let missing = CheckResult.warning(
        "database", "server", failure.message ?? "no store found",
        remedy: failure.remedy ?? "create a store with 'take5 init'")
      do throws(EmbeddedPostgresError) {
        let version = try EmbeddedPostgres.installedVersion()
        return [missing, .ok("database", "programs", "PostgreSQL \(version) is installed")]
      } catch {
        return [missing, .error("database", "programs", CommandFailure(error))]
      }
    case .failure(let failure): return [.error("database", "server", failure)]
    }
  }

  /// The results of a database that was reached.
  static func results(
    _ facts: DatabaseFacts, at location: String, isEmbedded: Bool = false
  ) -> [CheckResult] {
    let results = [server(facts, at: location), schema(facts), rights(facts)]
    if facts.checksumFailures > 0 {
      return results + [
        .error(
          "database", "checksums",
          "the server has read \(CountText.text(facts.checksumFailures, "page")) with a wrong checksum",
          remedy: "'take5 verify --deep' names the table; then restore a backup with 'take5 restore'")
      ]
    }
    guard !facts.hasChecksums else { return results }
    let detail = "the server has no data checksums: it does not notice a page that the disk has changed"
    return results + [
      isEmbedded
        ? .warning(
          "database", "checksums", detail,
          remedy: "stop the service and run 'take5 database checksums', which reads and writes the whole database")
        : .info("database", "checksums", detail)
    ]
  }

  private static func server(_ facts: DatabaseFacts, at location: String) -> CheckResult {
    let found = "PostgreSQL \(facts.version), \(location)"
    if facts.versionNumber < DatabaseFacts.minVersionNumber {
      return .error("database", "server", found, remedy: "use PostgreSQL 13 or later")
    }
    return facts.isReadOnly
      ? .error("database", "server", "\(found): it refuses writes", remedy: "name the primary server with --database")
      : .ok("database", "server", found)
  }

  private static func schema(_ facts: DatabaseFacts) -> CheckResult {
    guard let version = facts.applied.max() else {
      return .warning(
        "database", "schema", "the database has no schema of take5",
        remedy: "'take5 serve' and 'take5 init' create one; if there should be one, name its database with --database")
    }
    if let newer = facts.unknown(.all).last {
      return .warning(
        "database", "schema", "version \(newer) is newer than this program",
        remedy: "install the version of take5 that the other processes have")
    }
    do throws(OutdatedSchema) { try Migrator(.all).check(facts.applied) } catch {
      return .error("database", "schema", CommandFailure(error))
    }
    guard facts.pending(.all).isEmpty else {
      let versions = facts.pending(.all).map { "\($0.version)" }.joined(separator: ", ")
      return .warning(
        "database", "schema", "version \(version); pending migrations: \(versions)",
        remedy: "'take5 migrate' applies them, and so does the next start of a service")
    }
    return .ok("database", "schema", "version \(version), no pending migrations")
  }

  private static func rights(_ facts: DatabaseFacts) -> CheckResult {
    if !facts.closedTables.isEmpty {
      return .error(
        "database", "rights",
        "role \(facts.role) may not read and write \(facts.closedTables.joined(separator: ", "))",
        remedy: "connect as the owner of these tables, or grant SELECT, INSERT, UPDATE and DELETE on them")
    }
    if !facts.mayCreate {
      let remedy = "grant CREATE on the schema to the role: migrations and the partitions of the history need it"
      let detail = "role \(facts.role) may not create tables"
      return facts.pending(.all).isEmpty
        ? .warning("database", "rights", detail, remedy: remedy) : .error("database", "rights", detail, remedy: remedy)
    }
    return facts.isOwner
      ? .ok("database", "rights", "role \(facts.role) may read, write and create tables")
      : .warning(
        "database", "rights", "role \(facts.role) does not own the tables",
        remedy: "connect as their owner, or grant its role: migrations and the partitions of the history need it")
  }
}
