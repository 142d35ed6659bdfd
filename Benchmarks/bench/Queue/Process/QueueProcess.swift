import Glibc
internal import Model
internal import Platform
internal import Postgres
internal import Queue

/// Our own contestant: this program, started with a word that is not for people, as the peers' programs are.
struct QueueProcess: Sendable {
  /// Its first argument; then come the measure, a number of jobs and settings. libpq's variables name the database.
  static let word = "queue-process"
  static let queue = "bench"
  /// So many are written by one COPY.
  private static let chunk = 20_000

  let measure: QueueMeasure
  let count: Int
  let settings: QueueSettings

  init(_ arguments: [String]) throws {
    guard arguments.count >= 2, let measure = QueueMeasure(rawValue: arguments[0]), let count = Int(arguments[1]) else {
      throw BenchError("\(Self.word) is started by the benchmark alone")
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
        try carryOut(Session.connect(database, timeout: .seconds(5)))
      }
    case .drain: try await QueueConsumer(database: database, settings: settings).drain(count)
    case .worker: try await QueueConsumer(database: database, settings: settings).wait(for: count)
    }
  }

  private func carryOut(_ session: Session) throws {
    switch measure {
    case .install:
      try Migrator(QueueMigrations.all).migrate(session)
      try JobQueue.prepareHistory(session)
      try Self.tell(QueueAnswer(jobs: 0, seconds: 0))
    case .single: try timed { try enqueueSingly(session) }
    case .bulk: try timed { try enqueueMany(session) }
    case .producer: try produce(session)
    case .claims: try QueueClaims(size: 100, session).run(count)
    case .drain, .worker: break
    }
  }

  /// Prints a line.
  static func tell(_ answer: QueueAnswer) throws {
    print(try JSON.text(answer))
    fflush(nil)
  }

  private func timed(_ work: () throws -> Void) throws {
    let begin = MonotonicTime.now
    try work()
    try Self.tell(QueueAnswer(jobs: count, seconds: MonotonicTime.now - begin))
  }

  private func enqueueSingly(_ session: Session) throws {
    for number in 0..<count { try submit(.ofBench(author: number), session) }
  }

  // As the service does with the job of a submission: what it writes besides, a post and its sources, no queue has.
  private func submit(_ job: NewJob, _ session: Session) throws {
    try session.transaction { session in
      try JobQueue.enqueue(job, session)
      try JobQueue.notify(queue: job.queue, session)
    }
  }

  private func enqueueMany(_ session: Session) throws {
    for begin in stride(from: 0, to: count, by: Self.chunk) {
      let jobs = (begin..<min(count, begin + Self.chunk)).map { _ in NewJob.ofBench() }
      // As the service does with the items of a run.
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
    try Self.tell(QueueAnswer(jobs: count))
  }
}
