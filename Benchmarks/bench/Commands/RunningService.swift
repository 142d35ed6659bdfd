import FoundationEssentials
import Glibc
internal import HTTPClient
internal import Model
internal import Platform

/// A service with a database and blobs of its own, all of which vanish with it.
final class RunningService {
  private let command: Command
  private let folder: String
  /// Of its database and its blobs.
  var data: String { "\(folder)/data" }
  private var child: ChildProcess?
  private let client: HTTPClient
  /// Where it listens.
  let port: UInt16
  private let process: Int32
  /// What it has resident now, without its database.
  var residentBytes: Int { ProcessTree.residentBytes(of: process, isAlone: true) }

  /// Starts it and waits until it says where it listens.
  ///
  /// - Parameters:
  ///   - log: takes what it says beside that.
  ///   - more: further options.
  init(_ program: String, workers: Int, log: String, more: [String] = []) throws {
    // The embedded database runs as another user than root, who must reach its folder.
    var template = Array("/tmp/take5-bench-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw SystemError(call: "mkdtemp") }
    folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    guard chmod(folder, 0o711) == 0 else { throw SystemError(call: "chmod", subject: folder) }

    var output = try OutputPipe()
    command = Command(
      path: program,
      arguments: ["serve", "--listen", "127.0.0.1:0", "--workers", "\(workers)", "--data", "\(folder)/data"] + more,
      log: log)
    let started = try output.start(command)
    process = started.id
    child = consume started
    guard let address = ServerAddress(url: try output.line() ?? "") else {
      throw BenchError("the service does not say where it listens; what it said: \(log)")
    }
    client = HTTPClient(server: address)
    port = address.port
  }

  // In good order too when something else went wrong: its database is a process of its own.
  deinit {
    try? stop()
    try? Folder.remove(folder)
  }

  /// Submits so many moments at once, waits for them, and divides by the time from the first claim to the last end.
  func momentsPerMinute(_ count: Int, of footage: PhoneFootage) throws -> Double {
    let paths = try (0..<count).map { _ in try submit(footage) }
    let jobs = try paths.map { try wait(for: $0) }
    guard let start = jobs.compactMap(\.startedAt).min(), let end = jobs.compactMap(\.finishedAt).max() else {
      throw BenchError("the service does not say when its jobs began and ended")
    }
    return Double(count) * 60 / end.timeIntervalSince(start)
  }

  /// Submits a moment and waits for it: how long its author waited, in milliseconds, from the call to the end of the job.
  func wait(of footage: PhoneFootage) throws -> Double {
    let begin = Date()
    guard let end = try wait(for: submit(footage)).finishedAt else {
      throw BenchError("the service does not say when its job ended")
    }
    return end.timeIntervalSince(begin) * 1000
  }

  /// Ends it in good order.
  func stop() throws {
    guard let child = child.take() else { return }
    child.send(signal: SIGTERM)
    try command.check(child.wait())
  }

  private func submit(_ footage: PhoneFootage) throws -> String {
    let form = [
      FormPart(name: "post", json: Array(#"{"author":"bench"}"#.utf8)),
      try FormPart(name: "front", path: footage.front, type: "video/mp4"),
      try FormPart(name: "back", path: footage.back, type: "video/mp4"),
    ]
    let answer = try client.post("/v1/posts", form: form) { _, _ in }
    guard answer.status == 202, let job = try JSON.decode(PostAnswer.self, from: answer.body).job.url else {
      throw BenchError("the service answers \(answer.status): \(String(decoding: answer.body, as: UTF8.self))")
    }
    return job
  }

  private func wait(for path: String) throws -> JobAnswer {
    while true {
      let job = try JSON.decode(JobAnswer.self, from: client.get(path).body)
      if job.state == .completed { return job }
      guard !job.state.isFinal else { throw BenchError("the job \(path) ended as \(job.state.rawValue)") }
      usleep(200_000)
    }
  }
}

/// A post as far as it is read here.
private struct PostAnswer: Decodable {
  let job: JobAnswer
}

/// A job as far as it is read here.
private struct JobAnswer: Decodable {
  let state: JobState
  let url: String?
  let startedAt: Date?
  let finishedAt: Date?
}
