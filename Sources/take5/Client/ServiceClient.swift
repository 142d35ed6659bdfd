import Glibc
import HTTPClient
import Model
import Platform

/// A client of the service that `--server` names. A request that fails for a while is sent again.
final class ServiceClient: Sendable {
  /// The time without a byte after which a connection that sends an upload counts as lost, in seconds.
  private static let uploadTimeout = 30.0

  private let client: HTTPClient
  private let address: ServerAddress
  private let start = ContinuousClock.now
  private let retries: Locked<RetrySchedule>
  /// That timeout, or a shorter one if the command gives up before.
  let uploadTimeout: Int

  /// Reads `--server`, `--cacert`, `--give-up-after`, the API key and their variables.
  init(_ arguments: Arguments) throws(CommandFailure) {
    let url = arguments.value(Option.server.name) ?? ""
    guard let address = ServerAddress(url: url) else {
      throw CommandFailure(
        .usage, "'\(url)' is not a URL of a service",
        remedy: "write it as http://HOST:PORT or https://HOST:PORT, without a path")
    }
    self.address = address
    let limit = try arguments.seconds(Option.giveUpAfter.name)
    retries = Locked(RetrySchedule(giveUpAfter: limit.map { .seconds($0) }))
    uploadTimeout = Int(min(Self.uploadTimeout, max(1, limit ?? .infinity)))
    client = HTTPClient(
      server: address, apiKey: try APIKey.read(arguments),
      certificates: arguments.value("--cacert") ?? arguments.variable("SSL_CERT_FILE"))
  }

  /// Reads a post or an image.
  func media(_ id: PublicID, _ resource: MediaResource) async throws -> MediaResponse {
    try await get(resource.path(of: id))
  }

  /// Reads a post or an image; nil if the service responds with one of these statuses.
  func media(_ id: PublicID, _ resource: MediaResource, unless statuses: Set<Int>) async throws -> MediaResponse? {
    try await get(resource.path(of: id), unless: statuses)
  }

  /// Lists posts, newest first.
  ///
  /// - Parameters:
  ///   - parameters: the parameters of the list, without its pages.
  ///   - limit: the maximum number of posts.
  func posts(_ parameters: [(name: String, value: String)], limit: Int) async throws -> [MediaResponse] {
    let query = parameters.map { "\($0.name)=\(Submission.escaped($0.value))&" }.joined()
    var posts: [MediaResponse] = []
    var cursor = ""
    while posts.count < limit {
      let size = min(limit - posts.count, PageRequest.limits.upperBound)
      let page: PageResponse = try await get("/v1/posts?\(query)limit=\(size)\(cursor)")
      posts += page.items
      guard let next = page.next else { break }
      cursor = "&cursor=\(Submission.escaped(next))"
    }
    return posts
  }

  /// Reads a job once it has finished, or after `seconds`; nil if the service does not have it any more.
  func job(_ id: PublicID, waiting seconds: Int) async throws -> JobResponse? {
    try await get("/v1/jobs/\(id)?wait=\(seconds)", unless: [404])
  }

  /// Downloads a media file into an open file.
  func download(_ path: String, to file: OpenFile) async throws {
    _ = try await answered(HTTPRequest("GET", path), into: file)
  }

  /// The absolute URL of a path of the service.
  func url(of path: String) -> String { "\(address)\(path)" }

  private func get<Value: Decodable & Sendable>(_ path: String) async throws -> Value {
    try Self.read(Value.self, from: try await answered(HTTPRequest("GET", path)))
  }

  private func get<Value: Decodable & Sendable>(_ path: String, unless statuses: Set<Int>) async throws -> Value? {
    let response = try await answered(HTTPRequest("GET", path), accepting: statuses)
    return statuses.contains(response.status) ? nil : try Self.read(Value.self, from: response)
  }

  /// Something is done: failures count from one again.
  func progressed() { retries.withLock { $0.progressed() } }

  /// Sends a request until it is answered, and returns the response.
  ///
  /// - Parameters:
  ///   - statuses: the statuses that are no failures, besides the successful ones.
  ///   - file: receives the body of the response.
  private func answered(
    _ request: HTTPRequest, accepting statuses: Set<Int> = [], into file: OpenFile? = nil
  ) async throws -> HTTPResponse {
    while true {
      let outcome = try await outcome(of: request, into: file)
      guard let failure = TemporaryFailure(outcome) else {
        progressed()
        let response = try outcome.get()
        guard 200..<300 ~= response.status || statuses.contains(response.status) else {
          throw CommandFailure(response)
        }
        return response
      }
      try await pause(after: failure, SendingProgress(total: 0))
    }
  }

  /// Sends a request once. Throws if the command is cancelled, or if something fails on this machine.
  func outcome(
    of request: HTTPRequest, into file: OpenFile? = nil, progress: @escaping @Sendable (Int64) -> Void = { _ in }
  ) async throws -> RequestOutcome {
    do {
      let response = try await Self.blocking { [client] isCancelled in
        let continues = { (sent: Int64) in
          progress(sent)
          return !isCancelled.isCancelled
        }
        guard let file else { return try client.send(request, continues: continues) }
        // An earlier attempt may have received a part.
        let number = file.descriptor.number
        guard lseek(number, 0, SEEK_SET) == 0, ftruncate(number, 0) == 0 else { throw SystemError(call: "ftruncate") }
        return try client.send(request, into: file.descriptor, continues: continues)
      }
      retries.withLock { $0.responded() }
      return .success(response)
    } catch let error as HTTPClientError {
      try Task.checkCancellation()
      if case .other = error.kind { throw CommandFailure(.unavailable, error.description) }
      return .failure(error)
    }
  }

  /// Waits before the next attempt, and shows for how long; throws if the command gives up.
  func pause(after failure: TemporaryFailure, _ progress: SendingProgress) async throws {
    let now = start.duration(to: .now)
    let pause = try retries.withLock { retries throws(CommandFailure) in
      try retries.pause(after: failure, at: now, jitter: .random(in: 0...1))
    }
    var left = pause.delay
    while left > .zero {
      progress.wait(failure, pause, left: left)
      let part = min(left, .seconds(1))
      try await Task.sleep(for: part)
      left -= part
    }
  }

  /// Runs blocking work on a thread; the flag is set when the task is cancelled.
  static func blocking<Value: Sendable>(
    _ work: @escaping @Sendable (CancellationFlag) throws -> Value
  ) async throws -> Value {
    let isCancelled = CancellationFlag()
    return try await withTaskCancellationHandler {
      try await onThread("http-client") { try work(isCancelled) }
    } onCancel: {
      isCancelled.cancel()
    }
  }

  static func read<Value: Decodable>(_ type: Value.Type, from response: HTTPResponse) throws -> Value {
    do { return try JSON.decode(type, from: response.body) } catch {
      throw CommandFailure(unexpected: JSON.reason(error))
    }
  }
}
