import FoundationEssentials
import Glibc
internal import HTTPClient
internal import HTTPTesting
internal import Model
internal import Platform

/// A running `take5 serve` with a database and blobs of its own, which are removed with it.
final class RunningService {
  private let command: Command
  private let folder: String
  /// The folder of the database and the blobs.
  var data: String { "\(folder)/data" }
  private var child: ChildProcess?
  private let client: HTTPClient
  /// The port on which the service listens.
  let port: UInt16
  private let process: Int32
  /// The resident bytes of the service process without its database.
  var residentBytes: Int { ProcessTree.residentBytes(of: process, isAlone: true) }

  /// The processor time that the service process has used, without its database, in milliseconds.
  var processorTime: Double {
    var clock = clockid_t()
    var time = timespec()
    guard clock_getcpuclockid(process, &clock) == 0, clock_gettime(clock, &time) == 0 else { return 0 }
    return Double(time.tv_sec) * 1000 + Double(time.tv_nsec) / 1e6
  }

  /// Starts the service and waits until it prints its URL.
  ///
  /// - Parameters:
  ///   - log: the file for its standard error.
  ///   - more: further options.
  ///   - environment: further variables.
  init(
    _ program: String, workers: Int, log: String, more: [String] = [], environment: [String: String] = [:]
  ) throws {
    // As root, the embedded PostgreSQL runs as another user, which must be able to enter the folder.
    var template = Array("/tmp/take5-bench-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw SystemError(call: "mkdtemp") }
    folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    guard chmod(folder, 0o711) == 0 else { throw SystemError(call: "chmod", subject: folder) }

    var output = try OutputPipe()
    command = Command(
      path: program,
      arguments: ["serve", "--listen", "127.0.0.1:0", "--slots", "\(workers)", "--data", "\(folder)/data"] + more,
      log: log, environment: environment)
    let started = try output.start(command)
    process = started.id
    child = consume started
    guard let address = ServerAddress(url: try output.line() ?? "") else {
      throw BenchError("the service printed no URL; its output: \(log)")
    }
    client = HTTPClient(server: address)
    port = address.port
  }

  // After an error the service is also asked to end, because its database is a process of its own.
  deinit {
    try? stop()
    try? Folder.remove(folder)
  }

  /// Submits `count` moments at once, waits for them, and divides by the time from the first claim to the last end.
  func momentsPerMinute(_ count: Int, of footage: PhoneFootage) throws -> Double {
    let paths = try (0..<count).map { _ in try submit(footage) }
    let jobs = try paths.map { try wait(for: $0) }
    guard let start = jobs.compactMap(\.startedAt).min(), let end = jobs.compactMap(\.finishedAt).max() else {
      throw BenchError("the service reports no start or end of its jobs")
    }
    return Double(count) * 60 / end.timeIntervalSince(start)
  }

  /// Submits a moment, waits for it, and returns the milliseconds from the request to the end of the job.
  func latency(of footage: PhoneFootage) throws -> Double {
    let begin = Date()
    guard let end = try wait(for: submit(footage)).finishedAt else {
      throw BenchError("the service reports no end of its job")
    }
    return end.timeIntervalSince(begin) * 1000
  }

  /// Ends the service with SIGTERM.
  func stop() throws {
    guard let child = child.take() else { return }
    child.send(signal: SIGTERM)
    try command.check(child.wait())
  }

  private func submit(_ footage: PhoneFootage) throws -> String {
    var form = MultipartForm()
    form.add("post", Array(#"{"author":"bench"}"#.utf8))
    for (name, path) in [("front", footage.front), ("back", footage.back)] {
      form.add(name, filename: name, try Descriptor(reading: path).contents())
    }
    let response = try client.send(
      HTTPRequest("POST", "/v1/posts", headers: [("Content-Type", form.contentType)], body: .bytes(form.bytes)))
    guard response.status == 202, let job = try JSON.decode(PostResponse.self, from: response.body).job.url else {
      throw BenchError(
        "the service responded with \(response.status): \(String(decoding: response.body, as: UTF8.self))")
    }
    return job
  }

  private func wait(for path: String) throws -> JobResponse {
    while true {
      let job = try JSON.decode(JobResponse.self, from: client.get(path).body)
      if job.state == .completed { return job }
      guard !job.state.isFinal else { throw BenchError("the job \(path) ended as \(job.state.rawValue)") }
      usleep(200_000)
    }
  }
}

/// The members of a post that the benchmark reads.
private struct PostResponse: Decodable {
  let job: JobResponse
}

/// The members of a job that the benchmark reads.
private struct JobResponse: Decodable {
  let state: JobState
  let url: String?
  let startedAt: Date?
  let finishedAt: Date?
}
