package import Model
package import Postgres

/// Jobs that enter the queue.
extension JobQueue {
  /// Enqueues a job; returns its id, or nil if a live job has its unique key.
  @discardableResult
  package static func enqueue(_ job: NewJob, _ session: Session) throws(PostgresError) -> Int64? {
    let row = try session.execute(
      statements["enqueue"], .text(job.publicID.description), .text(job.queue), .text(job.kind), .double(job.delay),
      .integer(job.priority), .integer(job.maxAttempts), .integer(job.deadlineSeconds), .text(job.author),
      .bytes(job.definition), .text(job.request?.id), .text(String(decoding: job.arguments, as: UTF8.self)),
      .bytes(job.uniqueKey), .text(job.share?.name), .double(job.share?.seconds), .text(job.limit?.name),
      .integer(job.limit.map { Int64($0.max) }), .text(job.request?.trace)
    ).first
    if row != nil, job.delay > 0 { try notifySchedule(session) }
    return try row?.get("id")
  }

  /// Enqueues a job unless a live job has its unique key; such a job cannot end before the commit.
  package static func ensure(_ job: NewJob, _ session: Session) throws(PostgresError) {
    while try enqueue(job, session) == nil {
      if try !session.execute(statements["keep_live"], .bytes(job.uniqueKey)).isEmpty { return }
    }
    try notify(queue: job.queue, session)
  }

  /// Enqueues many jobs; returns the public ids of the jobs whose unique key a live job has.
  ///
  /// Jobs without a unique key, a fair share and a limit are sent by COPY, which is several times as fast. Outside of a
  /// transaction the COPY and each of the other insertions commit separately.
  @discardableResult
  package static func enqueue(_ jobs: [NewJob], _ session: Session) throws -> [PublicID] {
    let simple = jobs.filter { $0.uniqueKey == nil && $0.share == nil && $0.limit == nil }
    if !simple.isEmpty { try copy(simple, session) }
    guard simple.count < jobs.count else { return [] }
    var refused: [PublicID] = []
    for job in jobs where job.uniqueKey != nil || job.share != nil || job.limit != nil {
      if try enqueue(job, session) == nil { refused.append(job.publicID) }
    }
    return refused
  }

  private static func copy(_ jobs: [NewJob], _ session: Session) throws {
    let time = try session.execute(statements["now"]).single()
    let (now, step): (Int64, Int64) = (try time.get("now"), try time.get("step"))
    try session.copy(jobs.count, columns: 14, by: statements["enqueue_many"]) { index, rows in
      let job = jobs[index]
      // Ranks are one microsecond apart, so that the order of claims is the order of the list.
      let at = now + Int64((job.delay * 1e6).rounded()) + Int64(index)
      rows.begin()
      rows.uuid(high: job.publicID.high, low: job.publicID.low)
      rows.text(job.queue)
      rows.text(job.kind)
      rows.text(job.delay > 0 ? "s" : "a")
      rows.integer(at + Int64(job.priority) * step)
      rows.timestamp(microseconds: at)
      rows.integer(Int16(job.priority))
      rows.integer(Int16(job.maxAttempts))
      rows.integer(Int32(job.deadlineSeconds))
      rows.text(job.author)
      rows.bytes(job.definition)
      rows.text(job.request?.id)
      rows.json(job.arguments)
      rows.text(job.request?.trace)
    }
    if jobs.contains(where: { $0.delay > 0 }) { try notifySchedule(session) }
  }
}
