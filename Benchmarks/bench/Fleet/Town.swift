import Glibc
internal import Model
internal import Platform
internal import Postgres
internal import Queue
internal import Store

/// A town that films in the same five minutes: the queue is real, and the jobs of its machines take time without computing.
final class Town: Sendable {
  /// How large it is. Times are those of the town.
  struct Size: Sendable {
    var moments = 30_000
    /// How long it films.
    var seconds = 300.0
    var machines = 10
    /// Those of each machine for compositions, and for looks.
    var slots = (compositions: 32, looks: 8)
    /// What a composition and a look take.
    var composition = 5.0
    var look = 0.35
    /// One post of so many is opened, five seconds after its submission.
    var opened = 10
    /// How much faster than clocks the time of the town passes.
    var speed = 2.0
  }

  /// What was measured, in seconds of the town.
  struct Records: Sendable {
    /// The times from a submission to the end of its look, and to that of its composition if the post is opened or not.
    var looks: [Double] = []
    var opened: [Double] = []
    var others: [Double] = []
    /// How long the statements of a submission take, in milliseconds of the clock.
    var submissions: [Double] = []

    var done: Int { opened.count + others.count }
  }

  private static let submitters = 4
  private static let workers = 10
  private static let looks = "looks"

  private let size: Size
  private let database: DatabaseURL
  private let store: Store
  let records = Locked(Records())
  /// The number of submissions, of which the machines are notified.
  private let submitted = Locked(0)
  private let isOver = CancellationFlag()
  private let failure = Locked<(any Error)?>(nil)

  init(_ size: Size, database: DatabaseURL, store: Store) {
    self.size = size
    self.database = database
    self.store = store
  }

  /// Lets the town film until all moments are ready; returns the seconds of the town that this took.
  func run() throws -> Double {
    let begin = MonotonicTime.now
    let running = Locked(Self.submitters + Self.workers)
    for part in 0..<Self.submitters + Self.workers {
      try NamedThread(name: "town-\(part)") { [self] in
        do {
          if part < Self.submitters { try submit(part, begin) } else { try work(part - Self.submitters) }
        } catch {
          failure.withLock { $0 = error }
          isOver.cancel()
        }
        running.withLock { $0 -= 1 }
      }.detach()
    }
    while !isOver.isCancelled, records.withLock({ $0.done < size.moments || $0.looks.count < size.moments }) {
      (MonotonicTime.now + 0.05).wait()
      Console.progress("\(records.withLock { $0.done }) of \(size.moments) moments")
    }
    let seconds = (MonotonicTime.now - begin) * size.speed
    isOver.cancel()
    while running.withLock({ $0 }) > 0 { (MonotonicTime.now + 0.01).wait() }
    if let error = failure.withLock({ $0 }) { throw error }
    return seconds
  }

  // MARK: Phones

  private func submit(_ part: Int, _ begin: MonotonicTime) throws {
    let session = try Session.connect(database, timeout: .seconds(5))
    var opened: [(due: MonotonicTime, job: PublicID)] = []
    for number in stride(from: part, to: size.moments, by: Self.submitters) where !isOver.isCancelled {
      (begin + Double(number) * size.seconds / Double(size.moments) / size.speed).wait()
      let now = MonotonicTime.now
      let arrival = try JSON.encode(QueueArrival(index: number, sent: now.nanoseconds))
      let (look, composition) = (
        job(Self.looks, number, arrival, turn: 1), job(PostJob.queue, number, arrival, turn: 10)
      )
      try session.transaction { session in
        try JobQueue.enqueue(composition, session)
        try JobQueue.enqueue(look, session)
        try JobQueue.notify(queue: Self.looks, session)
        try JobQueue.notify(queue: PostJob.queue, session)
      }
      submitted.withLock { $0 += 1 }
      records.withLock { $0.submissions.append((MonotonicTime.now - now) * 1000) }
      if isOpened(number) { opened.append((now + 5 / size.speed, composition.publicID)) }
      let due = opened.prefix { now - $0.due >= 0 }.map { $0.job }
      if !due.isEmpty { try JobQueue.giveHeadStarts(to: due, session) }
      opened.removeFirst(due.count)
    }
    for (due, job) in opened where !isOver.isCancelled {
      due.wait()
      try JobQueue.giveHeadStarts(to: [job], session)
    }
  }

  private func isOpened(_ number: Int) -> Bool { number % size.opened == 0 }

  /// A job as of a submission, of an author of its own.
  private func job(_ queue: String, _ number: Int, _ arguments: [UInt8], turn: Double) -> NewJob {
    var job = NewJob.ofBench()
    (job.queue, job.author, job.arguments) = (queue, "author-\(number)", arguments)
    job.share = JobShare(name: "\(queue):author-\(number)", seconds: turn / size.speed)
    return job
  }

  // MARK: Machines

  /// The slots of a machine for one queue.
  private struct Slots {
    let queue: String
    let count: Int
    /// How long a job takes.
    let seconds: Double
    var running: [(job: ClaimedJob, ends: MonotonicTime)] = []
    /// The submissions of which the machine knew when it looked last.
    var seen = -1
  }

  private struct Machine {
    let worker: Int64
    var slots: [Slots]
    var heartbeat: MonotonicTime
  }

  private func work(_ part: Int) throws {
    let session = try Session.connect(database, timeout: .seconds(5))
    let (looks, compositions) = (size.slots.looks, size.slots.compositions)
    var machines = try stride(from: part, to: size.machines, by: Self.workers).map { number in
      Machine(
        worker: try JobQueue.register(host: "town", process: Int32(number), session),
        slots: [
          Slots(queue: Self.looks, count: looks, seconds: size.look / size.speed),
          Slots(queue: PostJob.queue, count: compositions, seconds: size.composition / size.speed),
        ], heartbeat: .now)
    }
    while !isOver.isCancelled {
      let tick = MonotonicTime.now
      for index in machines.indices { try step(&machines[index], session) }
      (tick + 0.005).wait()
    }
    for machine in machines { try JobQueue.deregister(worker: machine.worker, session) }
  }

  /// Ends the jobs of a machine whose time is over, and fills its slots.
  private func step(_ machine: inout Machine, _ session: Session) throws {
    for index in machine.slots.indices where !isOver.isCancelled {
      var slots = machine.slots[index]
      let over = slots.running.filter { MonotonicTime.now - $0.ends >= 0 }
      for (job, _) in over { try complete(job, session) }
      slots.running.removeAll { running in over.contains { $0.job.id == running.job.id } }
      let (free, news) = (slots.count - slots.running.count, submitted.withLock { $0 })
      if free > 0, !over.isEmpty || news > slots.seen {
        let claimed = try JobQueue.claim(worker: machine.worker, queue: slots.queue, limit: free, session)
        slots.running += claimed.map { ($0, MonotonicTime.now + slots.seconds) }
        if claimed.isEmpty { _ = try JobQueue.remaining(in: slots.queue, session) }
      }
      slots.seen = news
      machine.slots[index] = slots
    }
    guard MonotonicTime.now - machine.heartbeat >= 0 else { return }
    machine.heartbeat = MonotonicTime.now + 10 / size.speed
    let held = machine.slots.flatMap(\.running).map { (id: $0.job.id, token: $0.job.token) }
    _ = try JobQueue.heartbeat(worker: machine.worker, holding: held, session)
  }

  private func complete(_ job: ClaimedJob, _ session: Session) throws {
    try session.transaction { session in
      try JobQueue.complete(job, .accepted, result: nil, session)
      try JobQueue.notifyChange(of: job.publicID, session)
    }
    let arrival = try JSON.decode(QueueArrival.self, from: job.arguments)
    let seconds = (MonotonicTime.now - MonotonicTime(nanoseconds: arrival.sent)) * size.speed
    records.withLock { records in
      if job.queue == Self.looks {
        records.looks.append(seconds)
      } else if isOpened(arrival.index) {
        records.opened.append(seconds)
      } else {
        records.others.append(seconds)
      }
    }
  }
}
