import Glibc
internal import Model
internal import Platform
internal import Postgres
internal import Queue
internal import Store

/// Simulated workers, and one client that submits jobs.
final class Fleet: Sendable {
  /// What was measured.
  struct Records: Sendable {
    /// The times from submission to claim, in milliseconds.
    var claims: [Double] = []
    /// How much later than planned heartbeats were sent, in milliseconds.
    var delays: [Double] = []
  }

  /// The connections that send the statements of all workers.
  private static let connections = 8
  /// The time of a job, in seconds.
  private static let jobSeconds = 5.0
  private static let queues = [PostJob.queue, JobKinds.taskQueue, ReprocessJob.queue]

  private let workers: Int
  private let database: DatabaseURL
  private let store: Store
  let records = Locked(Records())
  /// The calls that the workers receive, as notifications bring them, and the numbers of those that are over.
  private let calls = Locked((received: [UInt32](), over: Set<UInt32>()))
  private let isOver = CancellationFlag()
  private let failure = Locked<(any Error)?>(nil)

  init(workers: Int, database: DatabaseURL, store: Store) {
    self.workers = workers
    self.database = database
    self.store = store
  }

  /// Runs the workers for a time, idle ones without submissions.
  func run(seconds: Double, isIdle: Bool) throws {
    let running = Locked(Self.connections + (isIdle ? 0 : 1))
    for index in (isIdle ? 1 : 0)...Self.connections {
      try NamedThread(name: "fleet-\(index)") { [self] in
        do {
          if index == 0 { try submit() } else { try work(part: index - 1) }
        } catch {
          failure.withLock { $0 = error }
          isOver.cancel()
        }
        running.withLock { $0 -= 1 }
      }.detach()
    }
    let end = MonotonicTime.now + seconds
    while end - .now > 0, !isOver.isCancelled { (MonotonicTime.now + 0.1).wait() }
    isOver.cancel()
    while running.withLock({ $0 }) > 0 { (MonotonicTime.now + 0.01).wait() }
    if let error = failure.withLock({ $0 }) { throw error }
  }

  /// Submits as many jobs as keep half of the workers busy.
  private func submit() throws {
    let session = try Session.connect(database, timeout: .seconds(5))
    let interval = Self.jobSeconds / (Double(workers) * 0.5)
    var next = MonotonicTime.now
    var submitted = 0
    while !isOver.isCancelled {
      let arrival = QueueArrival(index: 0, sent: MonotonicTime.now.nanoseconds)
      var job = NewJob.ofBench(author: submitted, arguments: try JSON.encode(arrival))
      job.queue = PostJob.queue
      let call = JobCall(job.queue)
      try session.transaction { session in
        try JobQueue.enqueue(job, session)
        try JobQueue.notify([call], session)
      }
      receive([call])
      submitted += 1
      next = next + interval
      next.wait()
    }
  }

  private func receive(_ calls: [JobCall]) {
    self.calls.withLock { known in
      for call in calls {
        if call.isOver { known.over.insert(call.number) } else { known.received.append(call.number) }
      }
    }
  }

  /// What a worker does again and again, with the seconds between.
  private enum Action: Double, CaseIterable {
    case reap = 10.002
    case heartbeat = 10
    case turn = 10.001
    case poll = 27
    case schedule = 27.001
  }

  private struct Member {
    let worker: Int64
    var due: [Action: MonotonicTime]
    var job: (claimed: ClaimedJob, ends: MonotonicTime)?
    /// Whether the worker performs the maintenance for all.
    var hasTurn = false
    /// The number of calls that it has received, and when it answers those that it has not.
    var received = 0
    var calls: [(number: UInt32, at: MonotonicTime)] = []
  }

  private func work(part: Int) throws {
    let session = try Session.connect(database, timeout: .seconds(5))
    var members: [Member] = []
    for number in stride(from: part, to: workers, by: Self.connections) {
      let worker = try JobQueue.register(host: "fleet", process: Int32(number), session)
      let due = Action.allCases.map { ($0, MonotonicTime.now + Double.random(in: 0...$0.rawValue)) }
      members.append(Member(worker: worker, due: Dictionary(uniqueKeysWithValues: due)))
    }
    while !isOver.isCancelled {
      let tick = MonotonicTime.now
      for index in members.indices where !isOver.isCancelled { try step(&members[index], session) }
      (tick + 0.005).wait()
    }
    for member in members {
      if let job = member.job { try complete(job.claimed, session) }
      try JobQueue.deregister(worker: member.worker, session)
    }
  }

  /// Does what is due for a worker.
  private func step(_ member: inout Member, _ session: Session) throws {
    let now = MonotonicTime.now
    if let job = member.job, now - job.ends >= 0 {
      try complete(job.claimed, session)
      member.job = nil
      try claim(&member, session)
    }
    try answer(&member, at: now, session)
    for (action, time) in member.due where now - time >= 0 {
      // A worker that is late waits for the whole interval from then on.
      member.due[action] = now + action.rawValue
      switch action {
      case .poll:
        for queue in Self.queues.dropFirst()
        where try JobQueue.claim(worker: member.worker, queue: queue, limit: 1, session).isEmpty {
          _ = try JobQueue.remaining(in: queue, session)
        }
        if member.job == nil { try claim(&member, session) }
      case .turn:
        let end = try JobQueue.takeTurn(worker: member.worker, seconds: 20, session).end
        member.hasTurn = end == nil
        if let end { member.due[action] = now + (end / .seconds(1) + Double.random(in: 0...5)) }
      case .schedule where member.hasTurn:
        _ = try session.transaction { session in
          _ = try JobQueue.promote(session)
          return try JobQueue.nextDue(session)
        }
        _ = try session.transaction { try Reprocessing.schedule($0) }
      case .reap where member.hasTurn:
        _ = try session.transaction { try JobQueue.reap($0) }
        _ = try session.transaction { try JobControl.revive(by: FaultPolicy(), $0) }
      case .heartbeat:
        records.withLock { $0.delays.append((now - time) * 1000) }
        let held = member.job.map { [(id: $0.claimed.id, token: $0.claimed.token)] } ?? []
        _ = try JobQueue.heartbeat(worker: member.worker, holding: held, session)
      case .schedule, .reap: break
      }
    }
  }

  /// Answers the calls that are due, as a consumer does.
  private func answer(_ member: inout Member, at now: MonotonicTime, _ session: Session) throws {
    let (news, over) = calls.withLock { [received = member.received] in (Array($0.received[received...]), $0.over) }
    member.received += news.count
    for number in news {
      let delay = JobCalls.delay(among: workers, draw: .random(in: 0..<1))
      member.calls.append((number, now + delay / .seconds(1)))
    }
    member.calls.removeAll { over.contains($0.number) }
    let due = member.calls.filter { now - $0.at >= 0 }.map(\.number)
    member.calls.removeAll { now - $0.at >= 0 }
    guard !due.isEmpty, member.job == nil else { return }
    try claim(&member, session)
    let reply = JobCalls.reply(to: due, in: PostJob.queue, isFull: member.job != nil, among: workers)
    if !reply.isEmpty { try JobQueue.notify(reply, session) }
    receive(reply)
  }

  private func claim(_ member: inout Member, _ session: Session) throws {
    guard let job = try JobQueue.claim(worker: member.worker, queue: PostJob.queue, limit: 1, session).first else {
      _ = try JobQueue.remaining(in: PostJob.queue, session)
      return
    }
    let now = MonotonicTime.now
    let arrival = try JSON.decode(QueueArrival.self, from: job.arguments)
    records.withLock { $0.claims.append((now - MonotonicTime(nanoseconds: arrival.sent)) * 1000) }
    member.job = (job, now + Self.jobSeconds)
  }

  private func complete(_ job: ClaimedJob, _ session: Session) throws {
    try session.transaction { session in
      try JobQueue.complete(job, .accepted, result: nil, session)
      try JobQueue.notifyChange(of: job.publicID, session)
    }
  }
}
