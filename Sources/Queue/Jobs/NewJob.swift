package import Model

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
