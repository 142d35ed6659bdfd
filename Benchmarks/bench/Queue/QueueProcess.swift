import Glibc
internal import Model
internal import Platform
internal import Postgres
internal import Queue

/// The program of the contestant take5: this program, started with an internal command.
struct QueueProcess: Sendable {
  /// The first argument; then follow the measure, a number of jobs and settings. libpq's variables name the database.
  static let command = "queue-process"
  static let queue = "bench"
  /// The jobs of one COPY.
  private static let chunk = 20_000

  let measure: QueueMeasure
  let count: Int
  let settings: QueueSettings

  init(_ arguments: [String]) throws {
    guard arguments.count >= 2, let measure = QueueMeasure(rawValue: arguments[0]), let count = Int(arguments[1]) else {
      throw BenchError("\(Self.command) is an internal command of the benchmark")
    }
    self.measure = measure
    self.count = count
    settings = try QueueSettings(arguments.dropFirst(2))
  }

  func run() async throws {
    let database = try DatabaseURL("")
    switch measure {
    case .install, .single, .bulk, .producer, .claims:
      try await onThread("queue-producer") {
        try perform(Session.connect(database, timeout: .seconds(5)))
      }
    case .drain: try await QueueConsumer(database: database, settings: settings).drain(count)
    case .worker: try await QueueConsumer(database: database, settings: settings).wait(for: count)
    }
  }

  private func perform(_ session: Session) throws {
    switch measure {
    case .install:
      try Migrator(QueueMigrations.all).migrate(session)
      try session.transaction(JobHistory.addPartitions)
      try Self.report(QueueReply(jobs: 0, seconds: 0))
    case .single: try timed { try enqueueSingly(session) }
    case .bulk: try timed { try enqueueMany(session) }
    case .producer: try produce(session)
    case .claims: try QueueClaims(size: 100, session).run(count)
    case .drain, .worker: break
    }
  }

  /// Prints a reply as a line of JSON.
  static func report(_ reply: QueueReply) throws {
    print(try JSON.text(reply))
    fflush(nil)
  }

  private func timed(_ work: () throws -> Void) throws {
    let begin = MonotonicTime.now
    try work()
    try Self.report(QueueReply(jobs: count, seconds: MonotonicTime.now - begin))
  }

  private func enqueueSingly(_ session: Session) throws {
    for number in 0..<count { try submit(.ofBench(author: number), session) }
  }

  // The same statements as for the job of a submission, without the post and its sources, which the peers do not have.
  private func submit(_ job: NewJob, _ session: Session) throws {
    try session.transaction { session in
      try JobQueue.enqueue(job, session)
      try JobQueue.notify(queue: job.queue, session)
    }
  }

  private func enqueueMany(_ session: Session) throws {
    for begin in stride(from: 0, to: count, by: Self.chunk) {
      let jobs = (begin..<min(count, begin + Self.chunk)).map { _ in NewJob.ofBench() }
      // The same statements as for the items of a reprocessing run.
      try session.transaction { session in
        try JobQueue.enqueue(jobs, session)
        try JobQueue.notify(queue: Self.queue, session)
      }
    }
  }

  private func produce(_ session: Session) throws {
    func send(_ index: Int) throws {
      let arrival = QueueArrival(index: index, sent: MonotonicTime.now.nanoseconds)
      try submit(.ofBench(author: index, arguments: try JSON.encode(arrival)), session)
    }
    if count == 0 { try send(-1) }
    let begin = MonotonicTime.now
    for index in 0..<count {
      (begin + Double(index) * 0.02).wait()
      try send(index)
    }
    try Self.report(QueueReply(jobs: count))
  }
}

/// The options of take5's worker.
struct QueueSettings: Sendable, Hashable {
  /// The number of jobs that it performs at a time.
  private(set) var slots = 2

  init(_ arguments: some Sequence<String>) throws {
    var rest = Array(arguments)[...]
    while let name = rest.popFirst() {
      guard let value = rest.popFirst().flatMap({ Int($0) }), value > 0 else {
        throw BenchError("\(name) requires a number of at least 1")
      }
      switch name {
      case "--slots": slots = value
      default: throw BenchError("unknown option \(name) of the queue's process")
      }
    }
  }
}

/// A time of `CLOCK_MONOTONIC`, which all processes of the machine share.
struct MonotonicTime: Sendable, Hashable {
  let nanoseconds: Int64

  static var now: MonotonicTime {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  /// Returns the seconds between two times.
  static func - (later: MonotonicTime, earlier: MonotonicTime) -> Double {
    Double(later.nanoseconds - earlier.nanoseconds) / 1e9
  }

  /// Returns a time that is a number of seconds later.
  static func + (time: MonotonicTime, seconds: Double) -> MonotonicTime {
    MonotonicTime(nanoseconds: time.nanoseconds + Int64(seconds * 1e9))
  }

  /// Blocks the calling thread until this time.
  func wait() {
    var time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil) == EINTR {}
  }
}
