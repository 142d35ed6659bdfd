import EmbeddedPostgres
import Glibc
import Model
import Platform
import Postgres
import Queue
import Rooms
import Store
import Telemetry

/// The database of a command: the one that `--database` names, or the embedded one of the data folder.
struct DatabaseAccess: Sendable {
  private let address: DatabaseAddress
  let pool: Pool
  // If this process owns the server, the last reference stops it.
  private let embedded: EmbeddedPostgres?
  /// Whether this process created the schema.
  private(set) var isNew = false
  /// The version of the schema, if a newer program has made it.
  private(set) var newerSchema: Int?

  /// The statement timeout of a service, none of whose statements scans the entire store.
  private static let statementLimit = Duration.seconds(120)
  /// The statement timeout of a reading request of a service, a list or a single record: the client gets 503, and others the connection.
  static let readLimit = Duration.seconds(2)
  /// The time for which a reading request of a service waits for a lock: the client gets 503, and others the connection.
  private static let readLockLimit = Duration.seconds(1)
  /// The time for which a statement of any other request waits for a lock. A transaction of a request lasts for milliseconds; this is as long
  /// as requests wait for a connection, and more than PostgreSQL takes to find a deadlock.
  private static let requestLockLimit = Duration.seconds(5)
  /// The number of connections of a service that reading requests leave to others.
  private static let reservedConnections = 2

  var url: DatabaseURL { address.url }

  /// The address for programs such as `pg_dump`, which change settings of their session: through a pooler in transaction
  /// mode other clients would get them. Status 64 if the server cannot be reached past the pooler.
  func programURL() throws(CommandFailure) -> DatabaseURL {
    guard let direct = url.listenerURL else {
      throw CommandFailure(
        .usage, "the database cannot be dumped or restored through a pooler in transaction mode",
        remedy: "name the server itself with --listen-database, or with --database")
    }
    return direct
  }

  /// Whether the server is the embedded one, which some take5 process owns.
  var isEmbedded: Bool { embedded != nil }

  /// What a command requires of the schema.
  enum SchemaUse {
    /// The schema of this version: missing migrations are applied.
    case migrating
    /// The schema of this version or of a later one: the command migrates nothing below services that run.
    case migrated
    /// None: the database may be empty.
    case any
  }

  /// Finds or starts the database. Status 69 if it cannot be reached, 66 if it holds no store, 65 if migrations are missing. For a service
  /// a named database that is away is the outage itself (`PostgresError.isOutage`), soon: the service waits for it.
  ///
  /// - Parameters:
  ///   - connections: the maximum number of open connections.
  ///   - schema: what the command requires of the schema.
  ///   - isCreating: whether a missing server or schema is created. Without it, a wrong folder or URL is an error.
  ///   - lease: the time for which an idle transaction of a service may hold its locks; nil: the command does not run until it
  ///     is stopped. As long as a service runs, no other command owns the embedded server.
  static func open(
    _ arguments: Arguments, connections: Int, schema: SchemaUse = .migrated, isCreating: Bool = false,
    lease: Duration? = nil, log: Logger
  ) async throws -> DatabaseAccess {
    let isService = lease != nil
    let noteConflict = { @Sendable (error: PostgresError) in
      log.info("concurrent transactions have ended one, which is repeated", ["conflict": "\(error)"])
    }
    var (address, embedded): (DatabaseAddress, EmbeddedPostgres?)
    if let named = try DatabaseAddress(arguments) {
      (address, embedded) = (named, nil)
    } else {
      let folder = arguments.value("--data") ?? ".take5"
      let server = try await start(in: folder, isCreating: isCreating, isService: isService, log: log)
      (address, embedded) = (DatabaseAddress(server.url), server)
    }
    address = address.with(
      idleTransactionLimit: lease ?? .seconds(30), statementLimit: isService ? statementLimit : nil,
      readLimit: isService ? readLimit : nil, readLockLimit: isService ? readLockLimit : nil,
      requestLockLimit: isService ? requestLockLimit : nil)
    let pool = Pool(
      address.url, size: connections, reserved: isService ? reservedConnections : 0, onConflict: noteConflict)
    var access = DatabaseAccess(address: address, pool: pool, embedded: embedded)
    let waitingNote = isService ? nil : Task { await noteWaiting() }
    defer { waitingNote?.cancel() }
    do {
      // Another process may be about to start an embedded server again.
      let timeout = Duration.seconds(!isService ? 5 : embedded == nil ? 2 : 30)
      // A migration may take hours, and who ends the process does not wait for it.
      let (applied, newer) = try await access.pool.runCancellable(timeout: timeout) {
        [access] session -> ([Migration], Int?) in
        try access.address.check(session)
        guard schema != .any else { return ([], nil) }
        guard try isCreating || Migrator.hasSchema(session) else {
          throw storeNotFound(in: access.url.description, mayBeStarting: access.isEmbedded)
        }
        let migrator = Migrator(.all, locking: QueueMigrations.lockedFirst)
        guard schema == .migrating else {
          let missing = try migrator.missing(session)
          guard missing.isEmpty else { throw migrationsMissing(missing) }
          return ([], nil)
        }
        let applied = try migrator.migrate(session) { error in
          log.warning("the schema is locked by another session; trying again", ["error": "\(error)"])
        }
        return (applied, try migrator.newer(session))
      }
      access.newerSchema = newer
      if let newer, isService {
        log.warning(
          "a newer version of take5 has migrated the schema: install it here too once the upgrade is decided",
          ["version": "\(newer)"])
      }
      // Before the first job of this process ends: its row fails if it goes to the default partition while the partition of
      // its day is attached.
      if schema == .migrating && (isCreating || isService) { try await JobHistory.prepare(access.pool) }
      access.isNew = applied.count == [Migration].all.count
      if access.isNew {
        log.info("schema created", ["migrations": "\(applied.count)"])
      } else {
        for migration in applied {
          log.info("schema migrated", ["version": "\(migration.version)", "name": migration.name])
        }
      }
    } catch let failure as CommandFailure {
      await access.close()
      throw failure
    } catch let error as PostgresError {
      await access.close()
      if Task.isCancelled { throw CancellationError() }
      if isService, embedded == nil, error.isOutage { throw error }
      throw CommandFailure(
        .unavailable, error.message,
        remedy: error.remedy ?? "check that the database can be reached and that its role may create tables")
    } catch {
      await access.close()
      throw error
    }
    return access
  }

  /// Opens the database, runs `body` and closes it.
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

  /// Logs that notifications are not received, if so; status 64 if `--listen-database` names a pooler.
  func logListening(_ log: Logger) async throws {
    if url.listenerURL == nil {
      log.info("no notifications are received through the pooler: the queue is polled at the interval of --poll")
    } else if try await !address.isDirectReachable(timeout: .seconds(5)) {
      log.warning("--listen-database cannot be reached: until it can, the queue is polled at the interval of --poll")
    }
  }

  /// Closes the connections and stops an embedded server that this process owns; another process may take over.
  func close() async {
    await pool.close()
    guard embedded != nil else { return }
    do {
      try await onThread("postgres-stop") { stopServer() }
    } catch {
      // No thread can be started: the server does not outlive this process for that.
      stopServer()
    }
  }

  /// Stops an embedded server that this process owns, and waits for its end; connections break.
  func stopServer() { embedded?.stop() }

  /// The failure of a command that needs a store where there is none.
  ///
  /// - Parameter mayBeStarting: whether there is a database of its own, which some process may be turning into a store.
  static func storeNotFound(in location: String, mayBeStarting: Bool = false) -> CommandFailure {
    let waiting = mayBeStarting ? "if a service is starting, wait until it listens; otherwise " : ""
    return CommandFailure(
      .inputMissing, "no store found in \(location)\(mayBeStarting ? " yet" : "")",
      remedy: "\(waiting)name the store with --data or --database, or create one with 'take5 init'")
  }

  private static func migrationsMissing(_ migrations: [Migration]) -> CommandFailure {
    CommandFailure(
      .rejected,
      "the database has the schema of an earlier version: \(CountText.text(migrations.count, "migration")) missing",
      remedy: "run 'take5 migrate', or start the service of this version")
  }

  private static func noteWaiting() async {
    guard (try? await Task.sleep(for: .seconds(2))) != nil else { return }
    Console.note("take5: waiting for the database")
  }

  private static func start(
    in folder: String, isCreating: Bool, isService: Bool, log: Logger
  ) async throws -> EmbeddedPostgres {
    if let denial = StoreOwner.denial(of: folder) { throw denial }
    var configuration = EmbeddedPostgres.Configuration(dataFolder: folder)
    configuration.isService = isService
    configuration.createsMissing = isCreating
    configuration.report = { log.warning($0) }
    do {
      return try await onThread("postgres-start") { [configuration] in try EmbeddedPostgres.start(configuration) }
    } catch let error as EmbeddedPostgresError {
      guard !error.isMissing else { throw storeNotFound(in: folder) }
      throw CommandFailure(
        .unavailable, "\(folder): \(error.message)",
        remedy: error.remedy ?? "name a folder that can be written with --data, or a PostgreSQL with --database")
    }
  }
}

/// The time of the last reply of the database; a reply that it accepts no connections yet counts too.
final class DatabaseLiveness: Sendable {
  /// An embedded server is restarted within seconds by one of its processes. After this time it will not come back.
  static let limit = Duration.seconds(60)

  private let lastReply: Locked<ContinuousClock.Instant>

  init(at now: ContinuousClock.Instant) { lastReply = Locked(now) }

  /// Records a reply.
  func recordReply(at now: ContinuousClock.Instant) { lastReply.withLock { $0 = now } }

  /// Whether the last reply is not older than the limit.
  func isRecent(at now: ContinuousClock.Instant) -> Bool {
    lastReply.withLock { now - $0 <= Self.limit }
  }
}
