import EmbeddedPostgres
import Glibc
import Logging
import Platform
import Postgres
import Store

/// The database of a verb: one of the operator's own, or the embedded one of the data folder, schema included.
struct DatabaseAccess: Sendable {
  private let address: DatabaseAddress
  let pool: Pool
  // Ends the server, if this process owns it, with the last who holds it.
  private let embedded: EmbeddedPostgres?
  /// Whether the schema was made just now.
  private(set) var isNew = false

  /// How long a statement of a service may take: none of them looks through everything.
  static let statementLimit = Duration.seconds(120)

  var url: DatabaseURL { address.url }

  /// Whether the server is that of the data folder, for which some process of ours is responsible.
  var isEmbedded: Bool { embedded != nil }

  /// Finds or starts the database and brings its schema up to date; status 69 if it cannot be had, 66 if there is none.
  ///
  /// - Parameters:
  ///   - connections: the most that are open at a time.
  ///   - timeout: how long a database that is away is waited for.
  ///   - idleTransactionLimit: how long a transaction may hold its locks while this process stands still.
  ///   - statementLimit: how long a statement may take; nil: as long as it likes, as for who looks through everything.
  ///   - migrating: whether the schema is brought up to date; what has none is left alone then.
  ///   - isMaking: whether what is missing is made: an embedded server, a schema. Who only uses a store is mistaken in the
  ///     folder or in the URL where there is none.
  ///   - isService: whether the verb serves until it is stopped: while it does, no command owns the embedded server.
  static func open(
    _ arguments: Arguments, connections: Int, timeout: Duration = .seconds(5),
    idleTransactionLimit: Duration = .seconds(30), statementLimit: Duration? = nil, migrating: Bool = true,
    isMaking: Bool = false, isService: Bool = false, log: Logger
  ) async throws -> DatabaseAccess {
    var access: DatabaseAccess
    if let address = try DatabaseAddress(arguments)?.with(
      idleTransactionLimit: idleTransactionLimit, statementLimit: statementLimit)
    {
      access = DatabaseAccess(address: address, pool: Pool(address.url, size: connections), embedded: nil)
    } else {
      let folder = arguments.value("--data") ?? ".take5"
      let embedded = try await start(in: folder, isMaking: isMaking, isService: isService, log: log)
      let address = DatabaseAddress(embedded.url).with(
        idleTransactionLimit: idleTransactionLimit, statementLimit: statementLimit)
      access = DatabaseAccess(address: address, pool: Pool(address.url, size: connections), embedded: embedded)
    }
    let tellsOfWaiting = isService ? nil : Task { await tellOfWaiting() }
    defer { tellsOfWaiting?.cancel() }
    do {
      let applied = try await access.pool.run(timeout: timeout) { [access] session -> [Migration] in
        try access.address.check(session)
        guard migrating else { return [] }
        guard try isMaking || Migrator.hasSchema(session) else { throw noStore(in: access.url.description) }
        return try Migrator(StoreMigrations.all).migrate(session) { error in
          log.warning("another session keeps the schema from being changed; trying again", ["error": "\(error)"])
        }
      }
      access.isNew = applied.count == StoreMigrations.all.count
      for migration in applied {
        log.info("schema migrated", ["version": "\(migration.version)", "name": migration.name])
      }
    } catch let failure as CommandFailure {
      await access.close()
      throw failure
    } catch let error as PostgresError {
      await access.close()
      throw CommandFailure(
        .unavailable, error.message,
        remedy: error.remedy ?? "check that the database can be reached and that its role may create tables")
    } catch {
      await access.close()
      throw error
    }
    return access
  }

  /// Opens the database for one thing, and closes it again.
  static func use<Result: Sendable>(
    _ arguments: Arguments, connections: Int = 1, _ body: (Pool) async throws -> Result
  ) async throws -> Result {
    let database = try await open(arguments, connections: connections, log: Logger(lowest: .warning))
    do {
      let result = try await body(database.pool)
      await database.close()
      return result
    } catch {
      await database.close()
      throw error
    }
  }

  /// Tells the log how new jobs are heard of, if it is not as usual; status 64 if they never can be.
  func noteListening(_ log: Logger) async throws {
    if url.listening == nil {
      log.info("no notifications are heard behind the pooler: jobs are looked for, as often as --poll says")
    } else if try await !address.reachesDirect(timeout: .seconds(5)) {
      log.warning("--listen-database does not answer: jobs are looked for until it does, as often as --poll says")
    }
  }

  /// Closes the connections and ends an embedded server that this process owns; another process may take its place.
  func close() async {
    await pool.close()
    guard let embedded else { return }
    try? await onThread("postgres-stop") { embedded.stop() }
  }

  private static func noStore(in place: String) -> CommandFailure {
    CommandFailure(
      .inputMissing, "there is no store in \(place)",
      remedy: "name the right one with --data or --database, or make one with 'take5 init'")
  }

  // A database that is away may be back in a moment: whoever waits for it knows what for.
  private static func tellOfWaiting() async {
    guard (try? await Task.sleep(for: .seconds(2))) != nil else { return }
    Console.note("take5: waiting for the database")
  }

  private static func start(
    in folder: String, isMaking: Bool, isService: Bool, log: Logger
  ) async throws -> EmbeddedPostgres {
    var configuration = EmbeddedPostgres.Configuration(dataFolder: folder)
    configuration.isService = isService
    configuration.makesMissing = isMaking
    configuration.report = { log.warning($0) }
    do {
      return try await onThread("postgres-start") { [configuration] in try EmbeddedPostgres.start(configuration) }
    } catch let error as EmbeddedPostgresError {
      guard !error.isMissing else { throw noStore(in: folder) }
      throw CommandFailure(.unavailable, "\(folder): \(error.message)", remedy: error.remedy)
    }
  }
}
