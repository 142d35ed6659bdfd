import Glibc
import HTTPClient
import HTTPTesting
import Model
import Platform
import Postgres
import PostgresTesting
import Take5Testing
import Testing
import WaitTesting

/// A running service for one test: the shipped binary with an embedded PostgreSQL in a temporary folder.
struct Service {
  let folder: TemporaryFolder
  let process: RunningTake5
  let client: HTTPClient
  let url: String

  var data: String { "\(folder.path)/data" }

  /// Starts the service and waits until it listens.
  ///
  /// - Parameters:
  ///   - folder: the parent of the data folder; nil for a new temporary folder.
  ///   - shipped: whether moments are composed by the built-in definition, not by one with fewer pixels.
  ///   - makesStore: whether the service makes its store; otherwise it gets a copy of one that `take5 init` has made.
  init(
    workers: Int = 1, _ more: [String] = [], program: String = Take5Binary.path, environment: [String: String] = [:],
    apiKey: String? = nil, in folder: TemporaryFolder? = nil, shipped: Bool = false, makesStore: Bool = false
  ) async throws {
    let folder = try folder ?? TemporaryFolder(prefix: "take5-service")
    self.folder = folder
    if !makesStore && access("\(folder.path)/data", F_OK) != 0 { try await EmptyStore.copy(to: "\(folder.path)/data") }
    let isDefined = shipped || more.contains { $0.hasPrefix("--definition") }
    let definition = isDefined ? [] : ["--definition", try await EmptyStore.smallDefinition()]
    process = try RunningTake5()
    url = try await process.start(
      [
        "serve", "--listen", "127.0.0.1:0", "--slots", "\(workers)", "--data", "\(folder.path)/data", "--log-level",
        "debug", "--log-format", "text",
      ] + definition + more, program: program, environment: environment)
    let address = try #require(ServerAddress(url: url), "the service did not start: \(process.log)")
    client = HTTPClient(server: address, apiKey: apiKey)
  }

  /// Starts a worker process on the same store.
  ///
  /// - Parameter text: what a line of its log contains for which `act` is called. A job that waits may be performed before this returns.
  func worker(
    _ more: [String] = [], whenItLogs text: String? = nil, times: Int = 1,
    _ act: @escaping @Sendable (Int32) -> Void = { _ in }
  ) async throws -> RunningTake5 {
    let worker = try RunningTake5()
    _ = try await worker.start(
      ["worker", "--data", data, "--lease", "3", "--log-level", "debug", "--log-format", "text"] + more,
      printsFirstLine: false, whenItLogs: text, times: times, act)
    return worker
  }

  /// Submits a moment and returns the response.
  func submit(front: String, back: String, foreground: Camera = .front) async throws -> HTTPResponse {
    let post = #"{"author":"ada","caption":"lake","foreground":"\#(foreground.rawValue)"}"#
    // The order of the parts does not matter.
    return try await send(
      "/v1/posts",
      [("back", try Self.bytes(of: back)), ("post", Array(post.utf8)), ("front", try Self.bytes(of: front))])
  }

  /// Sends a form with parts.
  func send(
    _ path: String, _ parts: [(name: String, bytes: [UInt8])], method: String = "POST"
  ) async throws -> HTTPResponse {
    let form = API.form(parts)
    let request = HTTPRequest(
      method, path, headers: [("Content-Type", form.contentType)], body: .bytes(form.bytes))
    let client = client
    return try await onThread("test-client") { try client.send(request) }
  }

  /// The content of a file.
  static func bytes(of path: String) throws -> [UInt8] { try Descriptor(reading: path).contents() }

  /// Submits a moment that must be accepted.
  func submitted(front: String, back: String, foreground: Camera = .front) async throws -> PostResponse {
    let response = try await submit(front: front, back: back, foreground: foreground)
    #expect(response.status == 202, "\(String(decoding: response.body, as: UTF8.self))")
    return try JSON.decode(PostResponse.self, from: response.body)
  }

  /// Sends a GET request.
  func get(_ path: String) async throws -> HTTPResponse {
    let client = client
    return try await onThread("test-client") { try client.get(path) }
  }

  /// Reads a post.
  func post(_ id: PublicID) async throws -> PostResponse {
    try JSON.decode(PostResponse.self, from: await get("/v1/posts/\(id)").body)
  }

  /// Submits a moment with the command line and waits until it is processed.
  func submitAndWait(front: String, back: String, foreground: Camera = .front) async throws -> Take5Command {
    try await Take5Command.run([
      "submit", "post", front, back, "--author", "me", "--server", url, "--foreground", foreground.rawValue, "--wait",
      "--json",
    ])
  }

  /// The number that a query returns.
  func count(_ query: String) async throws -> Int {
    try await rows(query) { try $0.single().get(0, as: Int.self) }
  }

  /// The texts in the first column of a query.
  func texts(_ query: String) async throws -> [String] {
    try await rows(query) { rows in try rows.map { try $0.get(0, as: String.self) } }
  }

  /// Runs a script in the database.
  func execute(_ script: String) async throws {
    let pool = Pool(try database(), size: 1)
    try await pool.run { try $0.executeScript(script, name: "test") }
    await pool.close()
  }

  /// Opens the daily window for five minutes.
  func openWindow() async throws {
    try await execute(
      "INSERT INTO daily_window (opened_at, closes_at) VALUES (clock_timestamp(), clock_timestamp() + interval '300 s')"
    )
  }

  /// Runs `body` while no other session can read or write a table.
  func locking(_ table: String, _ body: @escaping @Sendable () throws -> Void) async throws {
    let pool = Pool(try database(), size: 1)
    try await pool.transaction { session in
      try session.executeScript("LOCK TABLE \(table) IN ACCESS EXCLUSIVE MODE", name: "test")
      try body()
    }
    await pool.close()
  }

  private func rows<Result: Sendable>(
    _ query: String, _ read: @escaping @Sendable (Rows) throws -> Result
  ) async throws -> Result {
    let pool = Pool(try database(), size: 1)
    let result = try await pool.run { session in
      try read(session.execute(Statement(name: "test", text: query)))
    }
    await pool.close()
    return result
  }

  /// Waits until no job is left and all that was released is collected: from then on the service changes nothing by itself.
  ///
  /// A post may be ready before the job of its first look ends. A look that comes after the outputs is dropped, and so releases blobs that
  /// the outputs have too. Those of them whose assets a test deletes before the next collection, the service then removes: they are no
  /// blobs without references any more.
  func waitForJobs() async throws {
    try await until("the end of all jobs, and the collection of what they released") {
      try await count(
        """
        SELECT (SELECT count(*) FROM job) + (SELECT count(*) FROM blob_release) + (SELECT count(*) FROM blob_removal)
        """) == 0
    }
  }

  /// The URL of the database.
  func database() throws -> DatabaseURL {
    let bytes = try Descriptor(reading: "\(data)/postgres.url").contents()
    return try DatabaseURL(String(decoding: bytes, as: UTF8.self).split(separator: "\n").first.map(String.init) ?? "")
  }

  /// The number of files in the blob store: temporary files count, `store-id` does not.
  func blobFiles() throws -> Int {
    try Folders.files(below: "\(data)/blobs").count { !$0.hasSuffix("/store-id") }
  }

  /// Sends SIGTERM and returns the exit status.
  @discardableResult
  func stop() async throws -> Int32? {
    await process.send(signal: 15)
    return await process.wait()
  }
}

extension Tag {
  /// The test starts real processes and a PostgreSQL server.
  @Tag static var process: Self
}

extension [String] {
  /// The arguments of `take5 submit` with the author `me`, unless they name one, or are of media that no author has.
  var withAuthor: [String] {
    let isNamed = contains("--author") || first == "profile-image" || first == "thumbnail"
    return isNamed ? self : self + ["--author", "me"]
  }
}
