package import FoundationEssentials
import Model
package import Postgres

/// Cron entries. Any number of workers fire them, without a leader: the transaction that advances an entry from its due
/// time enqueues the job for that time.
extension JobQueue {
  /// Adds an entry, or replaces the entry of the same name; throws `CronError` if the schedule or the zone is invalid.
  package static func set(cron entry: CronEntry, _ session: Session) throws {
    let schedule: CronSchedule
    do { schedule = try CronSchedule(entry.schedule) } catch { throw CronError.schedule(error) }
    guard try !session.execute(statements["cron_has_zone"], .text(entry.zone)).isEmpty else {
      throw CronError.zone(entry.zone)
    }
    let next = try times(of: schedule, zone: entry.zone, count: 1, session)
    try session.execute(
      statements["cron_set"], .text(entry.name), .text(entry.schedule), .text(entry.zone), .text(entry.queue),
      .text(entry.kind), .text(String(decoding: entry.arguments, as: UTF8.self)), .integer(entry.deadlineSeconds),
      .timestamp(microseconds: next.first))
    try notifySchedule(session)
  }

  /// Removes an entry; false if it does not exist.
  package static func remove(cron name: String, _ session: Session) throws(PostgresError) -> Bool {
    try !session.execute(statements["cron_remove"], .text(name)).isEmpty
  }

  /// Pauses an entry; false if it does not exist.
  package static func pause(cron name: String, _ session: Session) throws(PostgresError) -> Bool {
    try !session.execute(statements["cron_pause"], .text(name)).isEmpty
  }

  /// Resumes a paused entry from its next time on; false if it does not exist.
  package static func resume(cron name: String, _ session: Session) throws -> Bool {
    guard let row = try session.execute(statements["cron_entry"], .text(name)).first else { return false }
    let entry = try CronEntry(row)
    let next = try times(of: CronSchedule(entry.schedule), zone: entry.zone, count: 1, session)
    let rows = try session.execute(statements["cron_resume"], .text(name), .timestamp(microseconds: next.first))
    try notifySchedule(session)
    return !rows.isEmpty
  }

  /// Enqueues the job of an entry now, independently of the schedule, and notifies workers; nil if the entry does not
  /// exist. The caller opens a transaction.
  package static func run(cron name: String, _ session: Session) throws -> CronFiring? {
    guard let row = try session.execute(statements["cron_entry"], .text(name)).first else { return nil }
    return try enqueue(CronEntry(row), key: nil, session)
  }

  /// All entries, sorted by name.
  ///
  /// - Parameter times: the number of next times of each.
  package static func cron(times: Int = 3, _ session: Session) throws -> [CronRecord] {
    try session.execute(statements["cron_entries"]).map { row in
      let entry = try CronEntry(row)
      let isPaused = try row.get("is_paused", as: Bool.self)
      let first = try row.get("next_at", as: Int64.self)
      let later = try self.times(of: CronSchedule(entry.schedule), zone: entry.zone, count: times, session)
      let next = isPaused ? [] : [first] + later.filter { $0 > first }.prefix(times - 1)
      return CronRecord(
        entry: entry, isPaused: isPaused, lastAt: try row.get("last_at", as: Int64?.self).map(Date.init(microseconds:)),
        next: next.map(Date.init(microseconds:)))
    }
  }

  /// The next time at which an entry enqueues a job of a kind; nil if no entry does.
  package static func nextFiring(ofKind kind: String, _ session: Session) throws(PostgresError) -> Date? {
    let rows = try session.execute(statements["cron_next_of_kind"], .text(kind))
    return try rows.single().get("at", as: Int64?.self).map(Date.init(microseconds:))
  }

  /// Fires the entries that are due, each in a transaction of its own; an entry that missed several times fires once.
  ///
  /// If an entry fails, the others fire nevertheless; the last error is thrown at the end.
  package static func fireCron(_ pool: Pool, onFiring: (CronFiring) -> Void) async throws {
    var failure: (any Error)?
    let due = try await pool.run { session in
      try session.execute(statements["cron_due"]).map { row in
        (entry: try CronEntry(row), at: try row.get("next_at", as: Int64.self))
      }
    }
    for due in due {
      do {
        if let firing = try await pool.transaction({ try fire(due.entry, due: due.at, $0) }) { onFiring(firing) }
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
  }

  /// Fires an entry in the caller's transaction; nil if another worker was first.
  private static func fire(_ entry: CronEntry, due: Int64, _ session: Session) throws -> CronFiring? {
    let next = try times(of: CronSchedule(entry.schedule), zone: entry.zone, count: 1, session)
    let rows = try session.execute(
      statements["cron_advance"], .text(entry.name), .timestamp(microseconds: due),
      .timestamp(microseconds: next.first))
    guard let row = rows.first else { return nil }
    return try enqueue(entry, key: row.get("unique_key"), session)
  }

  private static func enqueue(
    _ entry: CronEntry, key: [UInt8]?, _ session: Session
  ) throws(PostgresError) -> CronFiring? {
    let job = NewJob(
      publicID: .now(), queue: entry.queue, kind: entry.kind, deadlineSeconds: entry.deadlineSeconds, uniqueKey: key,
      arguments: entry.arguments)
    guard try enqueue(job, session) != nil else { return nil }
    try notify(queue: job.queue, session)
    return CronFiring(name: entry.name, queue: entry.queue, job: job.publicID)
  }

  /// The next instants of a schedule in a time zone, in order, in microseconds since 1970.
  ///
  /// - Parameter after: in microseconds since 1970; nil: now.
  static func times(
    of schedule: CronSchedule, zone: String, after: Int64? = nil, count: Int, _ session: Session
  ) throws(PostgresError) -> [Int64] {
    let time = try session.execute(statements["cron_time"], .text(zone), .timestamp(microseconds: after)).single()
    guard let now = LocalTime(try time.get("local")) else {
      throw PostgresError(.decoding, "the local time is malformed", statement: "queue.cron_time")
    }
    // Around a change of the zone's offset the order of local times is not the order of instants: the server gets all
    // local times that may come next.
    let (first, last) = (now.advanced(byMinutes: -maxChange), now.advanced(byMinutes: maxChange))
    var candidates = [schedule.next(after: first)]
    var beyond = 0
    while beyond < 2 * count {
      if candidates[candidates.count - 1] > last { beyond += 1 }
      candidates.append(schedule.next(after: candidates[candidates.count - 1]))
    }
    var times: [Int64] = []
    for row in try session.execute(
      statements["cron_instants"], .texts(candidates.map(\.description)), .text(zone),
      .timestamp(microseconds: try time.get("at")), .integer(count))
    {
      times.append(try row.get("at"))
    }
    return times
  }

  /// The largest change of a zone's offset, in minutes.
  private static let maxChange = 180
}

extension CronEntry {
  init(_ row: Row) throws(PostgresError) {
    self.init(
      name: try row.get("name"), schedule: try row.get("schedule"), zone: try row.get("zone"),
      queue: try row.get("queue"), kind: try row.get("kind"), deadlineSeconds: try row.get("deadline_seconds"),
      arguments: Array(try row.get("arguments", as: String.self).utf8))
  }
}
