import Glibc
internal import Postgres
internal import Queue

/// Times our claims while as many jobs wait before each.
struct QueueClaims {
  private let size: Int
  private let session: Session

  /// - Parameter size: the jobs of one claim.
  init(size: Int, _ session: Session) {
    self.size = size
    self.session = session
  }

  /// Claims `count` times and prints how long each claim took, in milliseconds.
  func run(_ count: Int) throws {
    let worker = try JobQueue.register(host: "bench", process: getpid(), session)
    var times: [Double] = []
    for _ in 0..<count {
      let begin = MonotonicTime.now
      let jobs = try JobQueue.claim(worker: worker, queue: QueueProcess.queue, limit: size, session)
      times.append((MonotonicTime.now - begin) * 1000)
      guard jobs.count == size else { throw BenchError("too few jobs wait", status: EX_DATAERR) }
      try session.transaction { session in
        for job in jobs { try JobQueue.complete(job, .accepted, result: nil, session) }
      }
      try JobQueue.enqueue((0..<size).map { _ in .ofBench() }, session)
    }
    try JobQueue.deregister(worker: worker, session)
    try QueueProcess.tell(QueueAnswer(latencies: times))
  }
}
