package import FoundationEssentials
import Model
package import Postgres

/// Jobs by the calendar. Any number of workers fire the entries, without a leader: whoever moves an entry on from a time
/// puts the job for that time into its queue, in one transaction.
extension JobQueue {
  /// Adds an entry, or changes the one of its name; throws `CronError` if it makes no sense.
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
  }

  /// Removes an entry; false if there is none of this name.
  package static func remove(cron name: String, _ session: Session) throws(PostgresError) -> Bool {
    try !session.execute(statements["cron_remove"], .text(name)).isEmpty
  }

  /// Lets an entry fire no more until it is resumed; false if there is none of this name.
  package static func pause(cron name: String, _ session: Session) throws(PostgresError) -> Bool {
    try !session.execute(statements["cron_pause"], .text(name)).isEmpty
  }

  /// Lets a paused entry fire again, from its next time on; false if there is none of this name.
  package static func resume(cron name: String, _ session: Session) throws -> Bool {
    guard let row = try session.execute(statements["cron_entry"], .text(name)).first else { return false }
    let entry = try CronEntry(row)
    let next = try times(of: CronSchedule(entry.schedule), zone: entry.zone, count: 1, session)
    return try !session.execute(statements["cron_resume"], .text(name), .timestamp(microseconds: next.first)).isEmpty
  }

  /// Puts the job of an entry into its queue now, whatever its schedule says, and announces it; nil if there is no entry of
  /// this name. It is to be a transaction of the caller's.
  package static func run(cron name: String, _ session: Session) throws -> CronFiring? {
    guard let row = try session.execute(statements["cron_entry"], .text(name)).first else { return nil }
    return try enqueue(CronEntry(row), key: nil, session)
  }

  /// All entries by their names, each with its next `times`.
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

  /// When an entry for jobs of a kind fires next; nil if none does.
  package static func nextFiring(ofKind kind: String, _ session: Session) throws(PostgresError) -> Date? {
    let rows = try session.execute(statements["cron_next_of_kind"], .text(kind))
    return try rows.single().get("at", as: Int64?.self).map(Date.init(microseconds:))
  }

  /// Fires what is due, each entry in a transaction of its own; what was missed for long fires once.
  ///
  /// An entry that fails keeps none of the others from firing; its error is thrown at the end.
  package static func fireCron(
    _ session: Session, onFiring: (CronFiring) -> Void
  ) throws {
    var failure: (any Error)?
    for row in try session.execute(statements["cron_due"]) {
      do {
        let due = try row.get("next_at", as: Int64.self)
        let entry = try CronEntry(row)
        if let firing = try session.transaction({ try fire(entry, due: due, $0) }) { onFiring(firing) }
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
  }

  /// In the caller's transaction; nil if another was first.
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

  /// The next instants of a schedule by a zone's clock, in microseconds since 1970, the first first.
  ///
  /// - Parameter after: in microseconds since 1970; now, unless told.
  static func times(
    of schedule: CronSchedule, zone: String, after: Int64? = nil, count: Int, _ session: Session
  ) throws(PostgresError) -> [Int64] {
    let time = try session.execute(statements["cron_time"], .text(zone), .timestamp(microseconds: after)).single()
    guard let now = LocalTime(try time.get("local")) else {
      throw PostgresError(.decoding, "the local time is none", statement: "queue.cron_time")
    }
    // Where clocks are changed, the order of local times is not that of the instants: all that may come next is asked for.
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

  /// By more minutes no clock is changed at a time.
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
