package import Model
package import Postgres

/// A job to be enqueued.
package struct NewJob: Sendable {
  package var publicID: PublicID
  package var queue: String
  package var kind: String
  /// The time until the job is available, in seconds.
  package var delay: Double
  /// 0 to 9: each step ranks the job 30 seconds later.
  package var priority: Int
  package var maxAttempts: Int
  /// The longest time of one attempt.
  package var deadlineSeconds: Int
  /// At most one live job has this key; nil: the job has none.
  package var uniqueKey: [UInt8]?
  package var author: String?
  /// The hash of the definition by which the job is performed.
  package var definition: [UInt8]?
  /// The HTTP request that submitted the job.
  package var request: JobRequest?
  /// The fair share that ranks the job; nil: its rank is the time at which it becomes available.
  package var share: JobShare?
  /// The limit under which the job runs; nil: none.
  package var limit: JobLimit?
  /// A JSON object.
  package var arguments: [UInt8]

  package init(
    publicID: PublicID, queue: String, kind: String, delay: Double = 0, priority: Int = 5, maxAttempts: Int = 5,
    deadlineSeconds: Int, uniqueKey: [UInt8]? = nil, author: String? = nil, definition: [UInt8]? = nil,
    request: JobRequest? = nil, share: JobShare? = nil, limit: JobLimit? = nil, arguments: [UInt8]
  ) {
    self.publicID = publicID
    self.queue = queue
    self.kind = kind
    self.delay = delay
    self.priority = min(max(priority, 0), 9)
    self.maxAttempts = maxAttempts
    self.deadlineSeconds = deadlineSeconds
    self.uniqueKey = uniqueKey
    self.author = author
    self.definition = definition
    self.request = request
    self.share = share
    self.limit = limit
    self.arguments = arguments
  }
}

/// The HTTP request that submits a job.
package struct JobRequest: Sendable, Hashable {
  package let id: String
  /// The traceparent of the request; nil if it is not traced.
  package let trace: String?

  package init(id: String, trace: String? = nil) {
    self.id = id
    self.trace = trace
  }
}

/// A fair share: the jobs of one name get ranks apart from each other, so that jobs of other names come between them.
///
/// This is start-time fair queueing at the time of submission (Goyal, Vin and Cheng, SIGCOMM 1996), with the server's
/// clock as virtual time. It delays a job by at most ten minutes, or by a turn for each job of the author that waits.
package struct JobShare: Sendable, Hashable {
  package let name: String
  /// The distance between the ranks of two jobs of the name.
  package let seconds: Double

  package init(name: String, seconds: Double = 1) {
    self.name = name
    self.seconds = seconds
  }
}

/// The largest number of jobs of one name that may be available or executing; the others are throttled.
package struct JobLimit: Sendable, Hashable {
  package let name: String
  /// At least 1; the value of the job that was enqueued last counts for all jobs of the name.
  package let max: Int

  package init(name: String, max: Int) {
    self.name = name
    self.max = max
  }
}

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
