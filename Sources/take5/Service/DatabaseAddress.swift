import Postgres

/// The URL of the database, and whether the options describe a pooler in front of it correctly.
struct DatabaseAddress: Sendable {
  private(set) var url: DatabaseURL
  private let isPoolingKnown: Bool
  // The URL of `--listen-database`.
  private let direct: DatabaseURL?

  /// Reads the options; nil if `--database` is not given.
  init?(_ arguments: Arguments) throws(CommandFailure) {
    let pooling = try arguments.choice(Option.pooling.name, of: Pooling.self)
    let direct = try arguments.secret(.listenDatabase)
    guard let text = try arguments.secret(.database) else {
      guard pooling == nil, direct == nil else {
        throw CommandFailure(
          .usage, "\((pooling == nil ? Option.listenDatabase : .pooling).name) requires --database",
          remedy: "name the database with --database, or omit the option: the embedded database has no pooler")
      }
      return nil
    }
    var url = try Self.parse(text)
    url.pooling = pooling ?? .session
    isPoolingKnown = pooling != nil
    if let direct {
      let direct = try Self.parse(direct)
      url.setListenerURL(direct)
      self.direct = direct
    } else {
      self.direct = nil
    }
    self.url = url
  }

  /// The address of an embedded server.
  init(_ url: DatabaseURL) {
    self.url = url
    isPoolingKnown = true
    direct = nil
  }

  /// Returns a copy with other limits for idle transactions, for statements, for the statements of readers, and for the locks that readers and
  /// other requests wait for.
  func with(
    idleTransactionLimit: Duration, statementLimit: Duration?, readLimit: Duration?, readLockLimit: Duration?,
    requestLockLimit: Duration?
  ) -> DatabaseAddress {
    var copy = self
    copy.url = url.with(idleTransactionLimit: idleTransactionLimit).with(statementLimit: statementLimit)
      .with(readLimit: readLimit).with(readLockLimit: readLockLimit).with(requestLockLimit: requestLockLimit)
    return copy
  }

  /// Throws if the connection goes through a pooler and `--pooling` is not given: with the wrong pool mode, statements
  /// would fail at random when clients share a server connection.
  func check(_ session: Session) throws {
    guard !isPoolingKnown, try session.isPooled() else { return }
    throw CommandFailure(
      .usage, "--database is a connection pooler, and its pool mode is not given",
      remedy: "add --pooling transaction or --pooling session, whichever is its pool_mode")
  }

  /// Whether the server of `--listen-database`, if given, can be reached; status 64 if it is a pooler.
  func isDirectReachable(timeout: Duration) async throws -> Bool {
    guard let direct else { return true }
    let pool = Pool(direct, size: 1)
    let isPooled: Bool
    do {
      isPooled = try await pool.run(timeout: timeout) { try $0.isPooled() }
      await pool.close()
    } catch {
      await pool.close()
      return false
    }
    guard !isPooled else {
      throw CommandFailure(
        .usage, "\(Option.listenDatabase.name) is a connection pooler too, through which LISTEN does not work",
        remedy: "name the PostgreSQL server itself, or omit the option: then the queue is polled")
    }
    return true
  }

  private static func parse(_ text: String) throws(CommandFailure) -> DatabaseURL {
    do {
      return try DatabaseURL(text)
    } catch {
      throw CommandFailure(.usage, error.message, remedy: error.remedy)
    }
  }
}
