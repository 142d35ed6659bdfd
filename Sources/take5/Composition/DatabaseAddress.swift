import Postgres

/// Where the operator's own database is, and whether what was said of a pooler is true.
struct DatabaseAddress: Sendable {
  private(set) var url: DatabaseURL
  private let isPoolingSaid: Bool
  // Where to listen past a pooler, if that was said.
  private let direct: DatabaseURL?

  /// Reads the options; nil where they name no database.
  init?(_ arguments: Arguments) throws(CommandFailure) {
    let pooling = try arguments.choice(Option.pooling.name, of: Pooling.self)
    let direct = arguments.value(Option.listenDatabase.name)
    guard let text = arguments.value(Option.database.name) else {
      guard pooling == nil, direct == nil else {
        throw CommandFailure(
          .usage, "\((pooling == nil ? Option.listenDatabase : .pooling).name) is about a database that is not named",
          remedy: "name it with --database, or leave both out: the embedded one has no pooler")
      }
      return nil
    }
    var url = try Self.parse(text)
    url.pooling = pooling ?? .session
    isPoolingSaid = pooling != nil
    if let direct {
      let direct = try Self.parse(direct)
      url.listen(past: direct)
      self.direct = direct
    } else {
      self.direct = nil
    }
    self.url = url
  }

  /// An embedded server.
  init(_ url: DatabaseURL) {
    self.url = url
    isPoolingSaid = true
    direct = nil
  }

  /// The same, with another limit for idle transactions.
  func with(idleTransactionLimit: Duration, statementLimit: Duration?) -> DatabaseAddress {
    var copy = self
    copy.url = url.with(idleTransactionLimit: idleTransactionLimit).with(statementLimit: statementLimit)
    return copy
  }

  /// Refuses to go on through a pooler of which the operator has not said what it does: statements would fail by chance,
  /// whenever two connections meet.
  func check(_ session: Session) throws {
    guard !isPoolingSaid, try session.isPooled() else { return }
    throw CommandFailure(
      .usage, "a pooler stands before the database, and nothing says for how long it lends a connection",
      remedy: "say --pooling transaction or --pooling session, as its pool mode is")
  }

  /// Whether the way past a pooler, if one was named, can be gone now; status 64 if it is none.
  func reachesDirect(timeout: Duration) async throws -> Bool {
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
        .usage, "\(Option.listenDatabase.name) leads through a pooler too, where nothing is heard",
        remedy: "name the server itself, or leave it out: jobs are looked for then")
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
