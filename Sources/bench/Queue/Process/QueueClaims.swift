import Glibc
internal import Postgres
internal import Queue

/// Times our claims while as many jobs wait before each.
struct QueueClaims {
  private let size: Int
  private let session: Session

  /// - Parameter size: of a group.
  init(size: Int, _ session: Session) {
    self.size = size
    self.session = session
  }

  /// Claims so many groups and tells how long each took, in milliseconds.
  func run(_ count: Int) throws {
    let worker = try JobQueue.register(host: "bench", process: getpid(), session)
    var floor = ClaimFloor()
    var times: [Double] = []
    let start = MonotonicTime.now
    for _ in 0..<count {
      let begin = MonotonicTime.now
      let lowest = floor.next(at: .seconds(begin - start))
      let group = try JobQueue.claimGroup(
        worker: worker, queue: QueueProcess.queue, limit: size, floor: lowest, session)
      times.append((MonotonicTime.now - begin) * 1000)
      floor.note(group?.jobs.map(\.rank) ?? [], limit: size)
      guard let group, group.jobs.count == size else { throw BenchError("too few jobs wait", status: EX_DATAERR) }
      try session.transaction { session in try JobQueue.settle(group, [:], session) }
      try JobQueue.enqueue((0..<size).map { _ in .ofBench() }, session)
    }
    try JobQueue.deregister(worker: worker, session)
    try QueueProcess.tell(QueueAnswer(latencies: times))
  }
}
