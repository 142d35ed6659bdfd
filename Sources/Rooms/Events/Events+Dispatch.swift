import FoundationEssentials
internal import Kit
package import Model
package import Postgres
import Queue
import Store

/// From an event to its receivers: one worker gives the events that have committed their positions among all events, and makes events of
/// what is announced to many users.
extension Events {
  /// The number of events in one transaction.
  static let dispatchLimit = 1000
  /// The number of users who get an event in one transaction.
  static let audienceLimit = 500
  /// The maximum number of such transactions at once.
  private static let maxAnnouncers = 4
  /// The age from which on an announcement is read alone, and neither sent nor shown, in seconds.
  private static let usefulTime = 3600.0

  static let consumers: [any EventConsumer.Type] = [any Room.Type].all.compactMap { $0 as? any EventConsumer.Type }

  /// Passes on all events, and enqueues what is due.
  ///
  /// - Returns: the time until something else is due; nil: nothing is known to become due.
  package static func dispatch(_ pool: Pool) async throws -> Duration? {
    var announcers = 1
    while true {
      let (isPlaced, due, pages) = try await passOn(announcers, pool)
      if !isPlaced && pages == 0 { return due }
      announcers = pages == announcers ? min(announcers * 2, maxAnnouncers) : 1
      try Task.checkCancellation()
    }
  }

  /// Passes on what waits, and after it a page of each of as many announcements: these are of many users.
  ///
  /// - Returns: whether something waited, the time until something else is due, and the number of pages.
  static func passOn(_ announcers: Int, _ pool: Pool) async throws -> (isPlaced: Bool, due: Duration?, pages: Int) {
    let (isPlaced, due) = try await pool.transaction { session in
      let isPlaced = try placeNext(session)
      let due = try consumers.compactMap { try $0.enqueueDue(session) }.min()
      return (isPlaced, due.map { Duration.seconds(min(max($0, 0.05), 3600)) })
    }
    return (isPlaced, due, try await announce(announcers, pool))
  }

  /// Notifies the next users of as many announcements at once; returns the number of those that there were.
  private static func announce(_ count: Int, _ pool: Pool) async throws -> Int {
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<count { group.addTask { try await pool.transaction(announceNext) } }
      return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
  }

  /// Locks the positions until the end of the transaction; returns the last one, which the next follow.
  @discardableResult
  static func lockPositions(_ session: Session) throws(PostgresError) -> Int64 {
    try session.execute(statements["find_history"])
    return try session.execute(statements["lock_positions"]).single().get("last")
  }

  /// Gives the next events their positions, and has them delivered; false if there were none.
  package static func placeNext(_ session: Session) throws -> Bool {
    let last = try lockPositions(session)
    guard let row = try session.execute(statements["place_events"], .integer(last), .integer(dispatchLimit)).first
    else { return false }
    let through = try row.get("last", as: Int64.self)
    for consumer in consumers { try consumer.receive(from: last + 1, through: through, session) }
    try session.executeAfterCommit(
      Store.statements["notify_user"], .text(Store.eventChannel), .text(UserEvent.everyone))
    return true
  }

  package static func note(_ status: PostStatus, of post: PublicID, _ session: Session) throws {
    guard status == .ready else { return }
    let announced = try session.execute(statements["announce_post"], .text(post.description), .double(retention))
    if !announced.isEmpty { try wake(session) }
  }

  /// Has what waits passed on, and what is due enqueued, after the commit of the open transaction.
  static func wake(_ session: Session) throws(PostgresError) {
    try session.executeAfterCommit(Store.statements["notify_user"], .text(Store.eventChannel), .text(""))
  }

  /// Has those who take part in a thread notified of a comment on a post or a collection, which is locked: each of them in a later transaction.
  static func announce(
    _ kind: UserEvent.Kind, by actor: String, on subject: RecordID, comment: PublicID, _ session: Session
  ) throws {
    let data = subject.kind == .collection ? ["collection": subject.id] : nil
    try session.execute(
      statements["announce_comment"], .text(kind.rawValue), .text(actor),
      .text(subject.kind == .post ? subject.id : nil),
      .text(comment.description), .text(try data.map { try JSON.text($0) }), .text(subject.id))
    try wake(session)
  }

  /// Notifies the next users of the announcement whose turn it is; false if there is none. One that cannot be read is set aside.
  package static func announceNext(_ session: Session) throws -> Bool {
    guard let row = try session.execute(statements["next_announcement"], .double(usefulTime)).first else {
      return false
    }
    do { try session.savepoint { try announce(row, $0) } } catch  where SetAside.isOfRow(error) {
      try SetAside.note(.announcement, "\(row.get("id", as: Int64.self))", error, session)
    }
    return true
  }

  private static func announce(_ row: Row, _ session: Session) throws {
    func text(_ column: String) throws -> Parameter { .text(try row.get(column, as: String?.self)) }
    let parameters =
      try ["actor", "post", "subject", "data", "after"].map(text)
      + [.integer(Int64(audienceLimit)), .bool(try row.get("is_late"))]
    let kind: UserEvent.Kind = try row.enumValue("kind")
    let notified = try kind.audience.map { try session.execute($0, parameters).single() }
    try session.execute(
      statements["continue_announcement"], .integer(try row.get("id", as: Int64.self)),
      .text(try notified?.get("after", as: String?.self)))
    if let users: [String] = try notified?.json("users"), !users.isEmpty {
      try session.executeAfterCommit(Store.statements["notify_users"], .text(Store.eventChannel), .texts(users))
    }
  }
}

extension UserEvent.Kind {
  /// The statement that notifies the next users of an announcement; nil: the kind is not announced.
  fileprivate var audience: Statement? {
    switch self {
    case .friendPosted: Events.statements["announce_to_friends"]
    case .threadComment: Events.statements["announce_to_thread"]
    case .collectionComment: Events.statements["announce_to_collection"]
    default: nil
    }
  }
}
