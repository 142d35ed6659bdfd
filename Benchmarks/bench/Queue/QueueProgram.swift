import Glibc
internal import Model
internal import Platform
internal import Postgres

/// A running program of a contestant; it ends with this value.
struct QueueProgram: ~Copyable {
  /// In seconds; longer than any step of a measurement.
  private static let timeout = 300

  private let command: Command
  private var output: OutputPipe
  private var child: ChildProcess

  /// Starts the program; the calling thread must outlive it.
  init(_ command: Command) throws {
    var output = try OutputPipe()
    let child = try output.start(command)
    self.command = command
    self.output = output
    self.child = child
  }

  /// Returns the next line that the program prints.
  func reply() throws -> QueueReply {
    guard let line = try output.line(timeout: Self.timeout) else {
      throw BenchError("\(command.path) ended too early; its output: \(command.log)", status: EX_SOFTWARE)
    }
    return try QueueReply(line: line)
  }

  /// Waits for the end of the program and throws unless it exits with status 0.
  consuming func end() throws {
    while try output.line(timeout: Self.timeout) != nil {}
    try command.check(child.wait())
  }

  /// Runs a command that prints one line.
  static func reply(of command: Command) throws -> QueueReply {
    let program = try QueueProgram(command)
    let reply = try program.reply()
    try program.end()
    return reply
  }
}

/// A line of JSON that a contestant's program prints.
struct QueueReply: Codable, Sendable, Hashable {
  /// Whether the worker has started its first job.
  var ready: Bool?
  /// The number of jobs that were enqueued or performed.
  var jobs: Int?
  var seconds: Double?
  /// In milliseconds, in the order of the jobs.
  var latencies: [Double]?

  init(jobs: Int? = nil, seconds: Double? = nil, latencies: [Double]? = nil, ready: Bool? = nil) {
    self.jobs = jobs
    self.seconds = seconds
    self.latencies = latencies
    self.ready = ready
  }

  /// Parses a line.
  init(line: String) throws {
    do {
      self = try JSON.decode(QueueReply.self, from: Array(line.utf8))
    } catch {
      throw BenchError("not a reply of a queue's program: \(line)", status: EX_PROTOCOL)
    }
  }

  /// Returns the jobs per second; throws if the program reports fewer than `count` jobs.
  ///
  /// More jobs are not an error: all of these queues run a job at least once, and each counts once.
  func rate(of count: Int) throws -> Double {
    guard let jobs, let seconds, seconds > 0 else {
      throw BenchError("the reply lacks the number of jobs or the time", status: EX_PROTOCOL)
    }
    guard jobs >= count else { throw BenchError("the reply reports \(jobs) of \(count) jobs", status: EX_PROTOCOL) }
    return Double(count) / seconds
  }
}

/// The programs of all contestants. The Python scripts are written into a folder.
struct QueuePrograms: Sendable {
  private let bench: String
  private let python: String
  private let folder: String

  /// - Parameters:
  ///   - environment: the folder of the Python environment that has the peers.
  ///   - folder: the folder for the scripts and the logs.
  init(environment: String, folder: String) throws {
    bench = try Folder.resolved(ThisProcess.executable)
    python = "\(environment)/bin/python"
    self.folder = folder
    guard access(python, X_OK) == 0 else {
      throw BenchError("\(python) not found; run 'make bench-queue', which installs it")
    }
    let scripts = [
      "contest": PackageResources.contest_py, "peer_pgqueuer": PackageResources.peer_pgqueuer_py,
      "peer_procrastinate": PackageResources.peer_procrastinate_py, "peer_awa": PackageResources.peer_awa_py,
    ]
    for (name, script) in scripts { try Descriptor(writing: "\(folder)/\(name).py", replacing: true).write(script) }
  }

  /// Returns the command line of a contestant's program.
  ///
  /// - Parameter count: a number of jobs.
  func command(
    _ contestant: QueueContestant, _ measure: QueueMeasure, _ count: Int, in database: DatabaseURL
  ) -> Command {
    let settings =
      switch measure {
      case .drain: contestant.drain
      case .worker, .claims: contestant.worker
      default: [String]()
      }
    let arguments = [measure.rawValue, "\(count)"] + settings
    let log = "\(folder)/\(contestant.name).\(measure.rawValue).log"
    switch contestant.program {
    case .bench:
      return Command(
        path: bench, arguments: [QueueProcess.command] + arguments, log: log, environment: database.environment)
    case .script(let name):
      return Command(
        path: python, arguments: ["\(folder)/\(name).py"] + arguments, log: log, environment: database.environment)
    }
  }
}
