internal import Model
internal import Platform
internal import Postgres
internal import Queue
import Rooms
internal import Store

/// A popular author, a thread in which everybody writes, and the worker that passes on what they do: what they cost others.
struct Disturbance: Sendable {
  /// What was measured.
  struct Records: Sendable {
    /// The times from an unrelated event to its position, from which on webhooks and notifications have it, in milliseconds.
    var placed: [Double] = []
    /// The events that were written for others.
    var events = 0
  }

  private static let (friends, posts, commenters) = (3000, 30, 5000)
  /// What the town pauses between two comments, and between two looks at an unrelated event, in seconds.
  private static let (commentPause, victimPause, lookPause) = (0.1, 0.2, 0.002)

  private static let world = """
    SET session_replication_role = replica;
    INSERT INTO app_user (id) SELECT 'fan ' || n FROM generate_series(1, \(max(friends, commenters))) AS n
    UNION ALL SELECT unnest(ARRAY['popular', 'host', 'victim']);
    INSERT INTO relation (user_id, target, kind)
    SELECT 'popular', 'fan ' || n, 'friend' FROM generate_series(1, \(friends)) AS n
    UNION ALL SELECT 'fan ' || n, 'popular', 'friend' FROM generate_series(1, \(friends)) AS n;
    INSERT INTO post (public_id, status, author, kind, visibility, foreground)
    SELECT gen_random_uuid(), 'ready', CASE WHEN n > 2 THEN 'popular' ELSE 'host' END, 'marker', 'public', 'front'
    FROM generate_series(1, \(posts + 2)) AS n;
    INSERT INTO comment (public_id, author, text, post_id)
    SELECT gen_random_uuid(), 'fan ' || n, 'Nice', thread.id
    FROM (SELECT id, row_number() OVER (ORDER BY id) AS place FROM post WHERE author = 'host') AS thread,
      generate_series(1, CASE thread.place WHEN 1 THEN 10 ELSE \(commenters) END) AS n;
    RESET session_replication_role;
    ANALYZE
    """

  /// Raised when the town has filmed.
  let isOver = CancellationFlag()
  private let pool: Pool
  /// The posts of the popular author, and the threads of ten and of all.
  private let popular: [PublicID]
  private let threads: [PublicID]

  init(_ database: DatabaseURL) async throws {
    pool = Pool(database, size: 8)
    (popular, threads) = try await pool.run { session in
      try session.executeScript(Self.world, name: "disturbance")
      func posts(of author: String) throws -> [PublicID] {
        try session.execute("SELECT public_id FROM post WHERE author = $1 ORDER BY id", .text(author)).map {
          try $0.publicID("public_id")
        }
      }
      return (try posts(of: "popular"), try posts(of: "host"))
    }
  }

  /// The rows and the bytes of the write-ahead log that a comment costs, in a thread of ten and in one of all, with what is announced.
  func costs() async throws -> [(rows: Double, walBytes: Double)] {
    let count = 20
    var costs: [(rows: Double, walBytes: Double)] = []
    for thread in threads {
      let before = try await written()
      for number in 0..<count { try await comment(on: thread, by: "new \(number % 5)") }
      let after = try await written()
      costs.append(((after.rows - before.rows) / Double(count), (after.walBytes - before.walBytes) / Double(count)))
    }
    return costs
  }

  private func comment(on thread: PublicID, by author: String) async throws {
    _ = try await pool.transaction { session in
      try Comments.insert(on: .post(thread), for: .unrestricted, author: author, text: "Nice", session)
    }
    _ = try await Events.dispatch(pool)
  }

  private func written() async throws -> (rows: Double, walBytes: Double) {
    try await pool.run { session in
      let row = try session.execute(
        "SELECT (pg_current_wal_insert_lsn() - '0/0')::float8 AS wal, (SELECT count(*) FROM user_event)::float8 AS rows"
      ).single()
      return (try row.get("rows"), try row.get("wal"))
    }
  }

  /// Lets the author post and everybody comment, if they are there, until it is over, and looks at unrelated events meanwhile.
  func run(isThere: Bool) async throws -> Records {
    let placed = try await withThrowingTaskGroup(of: [Double].self) { group in
      group.addTask { try await dispatch() }
      group.addTask { try await follow() }
      if isThere { group.addTask { try await disturb() } }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    let events = try await pool.run { session in
      try session.execute("SELECT count(*) FROM user_event").single().get(0, as: Int.self)
    }
    await pool.close()
    return Records(placed: placed, events: events)
  }

  /// Passes events on, as the worker with the turn does.
  private func dispatch() async throws -> [Double] {
    while await pause(Self.lookPause) { _ = try await Events.dispatch(pool) }
    return []
  }

  private func disturb() async throws -> [Double] {
    for post in popular { try await pool.transaction { try Events.note(.ready, of: post, $0) } }
    var number = 0
    while await pause(Self.commentPause) {
      let (thread, author) = (threads[1], "new \(number)")
      _ = try await pool.transaction { session in
        try Comments.insert(on: .post(thread), for: .unrestricted, author: author, text: "Nice", session)
      }
      number += 1
    }
    return []
  }

  private func follow() async throws -> [Double] {
    var placed: [Double] = []
    while await pause(Self.victimPause) {
      let begin = MonotonicTime.now
      try await pool.transaction { try Store.notify("victim", of: .like, by: "host", $0) }
      while try await !isPlaced(), await pause(Self.lookPause) {}
      placed.append((MonotonicTime.now - begin) * 1000)
    }
    return placed
  }

  private func isPlaced() async throws -> Bool {
    try await pool.run { session in
      try session.execute("SELECT FROM user_event WHERE user_id = 'victim' AND position IS NULL").isEmpty
    }
  }

  /// Waits; false once it is over.
  private func pause(_ seconds: Double) async -> Bool {
    try? await Task.sleep(for: .seconds(seconds))
    return !isOver.isCancelled
  }
}
