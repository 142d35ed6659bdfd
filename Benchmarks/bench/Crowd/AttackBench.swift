import Glibc
internal import HTTPTesting
internal import Model
internal import Platform
internal import Postgres

/// Measures what a client is served that asks for little, while another one occupies as much as it can.
struct AttackBench: Sendable {
  static let key = "bench-key"
  private static let posts = 50_000

  let folder: String
  /// The path of take5.
  let program: String

  /// Two figures for each attack: reads and `/livez`.
  func findings(of attacks: [Attack]) async throws -> [Finding] {
    var all: [Finding] = []
    for attack in attacks {
      Console.progress(attack.meaning)
      all += try await findings(of: attack)
    }
    return all
  }

  private func findings(of attack: Attack) async throws -> [Finding] {
    let log = "\(folder)/attack-\(attack.name).log"
    if attack.leavesLogUnread {
      unlink(log)
      guard mkfifo(log, 0o600) == 0 else { throw SystemError(call: "mkfifo", subject: log) }
    }
    let program = program
    let start = Start()
    async let seeded: Void = Self.seed(start, attack.needsPosts ? Self.posts : 0)
    // A child of a thread ends with it: the service starts, and is measured, on one.
    let readers = try await onThread("bench-attack") {
      let running = try RunningService(
        program, workers: 0, log: log,
        more: ["--accounts", "on", "--log-level", "debug"]
          + (attack.isProxied ? ["--trusted-proxy", "127.0.0.1"] : []),
        environment: ["TAKE5_API_KEY": Self.key])
      start.database.withLock { $0 = "\(running.data)/postgres.url" }
      while !start.isSeeded.isCancelled { usleep(100_000) }
      let proxy = attack.isProxied ? try ReverseProxy(before: running.port, in: folder) : nil
      let result = try measure(attack, proxy?.port ?? running.port)
      proxy?.stop()
      if attack.leavesLogUnread { try Self.drain(log) }
      try running.stop()
      return result
    }
    try await seeded
    func finding(_ name: String, _ what: String, _ reader: HealthyReader, _ limit: Double) -> Finding {
      Finding(
        Figure("crowd.\(attack.name).\(name)", "\(what), p99, ms: \(attack.meaning)", .atMost(limit), decimals: 1),
        [reader.slow],
        details: [
          .init("median, ms", [reader.median], decimals: 1), .init("requests", [reader.requests], decimals: 0),
          .init("failed", [reader.errors], decimals: 0),
        ])
    }
    return [finding("reads", "reads", readers[0], 250), finding("livez", "GET /livez", readers[1], attack.livezLimit)]
  }

  /// What the thread of a service and the task that fills its database wait for.
  private final class Start: Sendable {
    /// The file with the URL of the database, once the service has started.
    let database = Locked<String?>(nil)
    let isSeeded = CancellationFlag()
  }

  /// Fills the database of a service once it has started.
  private static func seed(_ start: Start, _ posts: Int) async throws {
    defer { start.isSeeded.cancel() }
    guard posts > 0 else { return }
    while start.database.withLock({ $0 }) == nil { try await Task.sleep(for: .milliseconds(100)) }
    let bytes = try Descriptor(reading: start.database.withLock { $0 } ?? "").contents()
    let line = String(decoding: bytes, as: UTF8.self).split(separator: "\n").first.map(String.init)
    let pool = Pool(try DatabaseURL(line ?? ""), size: 1)
    try await pool.run { try ReadingData(posts: posts).generate($0) }
    await pool.close()
  }

  private func measure(_ attack: Attack, _ port: UInt16) throws -> [HealthyReader] {
    let mallory = try Self.token(of: "mallory", port)
    let attackers = Attackers(
      attack, port: port, token: mallory, job: attack.needsJob ? try Self.job(mallory, port) : nil)
    let healthy = try Self.token(of: "hal", port)
    try attackers.start()
    defer { attackers.stop() }
    return try HealthyReader.read([("/v1/posts?limit=5", healthy), ("/livez", nil)], port, in: folder)
  }

  /// Returns a new token of a user.
  static func token(of user: String, _ port: UInt16) throws -> String {
    var connection = try ClientConnection(port: port)
    try connection.send(
      "POST /v1/users/\(user)/tokens HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(key)\r\n"
        + "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
    return try JSON.decode(MintedToken.self, from: connection.receive().body).token
  }

  private struct MintedToken: Decodable {
    let token: String
  }

  /// Submits the samples and returns the id of the job, which waits: the service has no worker.
  private static func job(_ token: String, _ port: UInt16) throws -> String {
    var form = MultipartForm()
    form.add("kind", Array("take5".utf8))
    for name in ["front", "back"] {
      form.add(name, filename: name, try Descriptor(reading: "samples/\(name).mp4").contents())
    }
    let body = form.bytes
    var connection = try ClientConnection(port: port)
    try connection.send(
      "POST /v1/posts HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(token)\r\n"
        + "Content-Type: \(form.contentType)\r\nContent-Length: \(body.count)\r\n\r\n")
    try connection.send(body)
    let response = try connection.receive()
    guard response.status == 202 else { throw BenchError("the samples were refused: \(response.text)") }
    return try JSON.decode(SubmittedPost.self, from: response.body).job.id
  }

  private struct SubmittedPost: Decodable {
    struct Job: Decodable { let id: String }

    let job: Job
  }

  /// Reads a log, so that the service can end.
  private static func drain(_ log: String) throws {
    let reading = OpenFile(try Descriptor(reading: log))
    try NamedThread(name: "log") {
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      while read(reading.descriptor.number, &buffer, buffer.count) > 0 {}
    }.detach()
  }
}
