package import Model
package import Postgres

extension JobQueue {
  /// Puts many jobs into their queues; the public ids of those that were not taken, because a live job has their key.
  ///
  /// Those without a key, a share or a limit travel by COPY, which is several times as fast. All of them stand or fall
  /// with the caller's transaction; outside of one, so does each of the two ways.
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
    let now = try session.execute(statements["now"]).single().get(0, as: Int64.self)
    try session.copy(jobs.count, columns: 13, by: statements["enqueue_many"]) { place, rows in
      let job = jobs[place]
      // One microsecond after the other, so that the order of claims is the order of the list.
      let at = now + Int64((job.delay * 1e6).rounded()) + Int64(place)
      rows.begin()
      rows.uuid(high: job.publicID.high, low: job.publicID.low)
      rows.text(job.queue)
      rows.text(job.kind)
      rows.text(job.delay > 0 ? "s" : "a")
      rows.integer(at + Int64(job.priority) * 30_000_000)
      rows.timestamp(microseconds: at)
      rows.integer(Int16(job.priority))
      rows.integer(Int16(job.maxAttempts))
      rows.integer(Int32(job.deadlineSeconds))
      rows.text(job.author)
      rows.bytes(job.definition)
      rows.text(job.request)
      rows.json(job.arguments)
    }
  }
}
