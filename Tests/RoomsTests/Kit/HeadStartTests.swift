import HTTPTesting
import Model
import Platform
import Postgres
import PostgresTesting
import Queue
import Store
import Testing
import WaitTesting

@testable import Kit
@testable import Rooms

@Suite("What clients wait for goes ahead", .tags(.database, .network), .timeLimit(.minutes(60)))
struct HeadStartTests {
  /// What a client does with a post that is being processed.
  enum Interest: CaseIterable, Sendable {
    case opens, waitsForPost, waitsForJob, readsEvents, submitsAndWaits
  }

  private struct Submitted: Sendable {
    let path: String
    let job: String

    init(_ response: ClientResponse) throws {
      path = try #require(response.headers["location"])
      job = try #require(response.json["job"]["url"].text)
    }

    var id: String { String(job.split(separator: "/").last ?? "") }
  }

  private static func submit(
    _ api: RunningAPI, by author: String, headers: [(String, String)] = []
  ) async throws -> Submitted {
    try Submitted(try await api.submit(.moment(post: #"{"author":"\#(author)"}"#), headers: headers))
  }

  /// The ids of the jobs in the order in which workers claim them.
  private static func order(_ api: RunningAPI) async throws -> [String] {
    try await api.pool.run { session in
      try session.execute("SELECT public_id::text FROM job WHERE kind = 'post' ORDER BY rank, id").map {
        try $0.get(0, as: String.self)
      }
    }
  }

  @Test("the job of a post that a client opens or waits for goes ahead", arguments: Interest.allCases)
  func goesAhead(interest: Interest) async throws {
    try await RunningAPI.with { api in
      let others = try [await Self.submit(api, by: "ada").id, await Self.submit(api, by: "bea").id]
      let headers = interest == .submitsAndWaits ? [("Prefer", "wait=1")] : []
      let awaited = try await Self.submit(api, by: "cleo", headers: headers)
      switch interest {
      case .opens: #expect(try await api.get(awaited.path).status == 200)
      case .waitsForPost: #expect(try await api.get(awaited.path + "?wait=1").status == 200)
      case .waitsForJob: #expect(try await api.get(awaited.job + "?wait=1").status == 200)
      case .readsEvents:
        let port = api.port
        try await onThread("client") { _ = try EventReader.open(port: port, awaited.job + "/events", []) }
      case .submitsAndWaits: break
      }
      try await until { try await Self.order(api) == [awaited.id] + others }
    }
  }

  @Test("a client that waits for the look alone moves nothing")
  func look() async throws {
    try await RunningAPI.with { api in
      let first = try await Self.submit(api, by: "ada")
      let looked = try await Self.submit(api, by: "bea", headers: [("Prefer", "wait=1; for=look")])
      #expect(try await api.get(looked.path, headers: [("Prefer", "wait=1; for=look")]).status == 200)
      let awaited = try await Self.submit(api, by: "cleo")
      #expect(try await api.get(awaited.path).status == 200)
      try await until { try await Self.order(api) == [awaited.id, first.id, looked.id] }
    }
  }

  @Test("lists, a read of the job alone, and a client that does not see the post move nothing")
  func isNotMoved() async throws {
    try await UserClient.with { api in
      let form = MultipartForm.moment(post: #"{"author":"ada","visibility":"private"}"#)
      let submitted = try await request(
        "POST", "/v1/posts", port: api.port,
        headers: UserClient.backend + [("Content-Type", form.contentType), ("Take5-User", "ada")], body: form.bytes)
      let post = try Submitted(submitted)
      for (path, user, status) in [
        (post.path, "bea", 404), (post.job + "/events", "bea", 404), ("/v1/posts?author=ada", "ada", 200),
        (post.job, "ada", 200),
      ] {
        let response = try await api.get(path, headers: UserClient.backend + [("Take5-User", user)])
        #expect(response.status == status, "\(path)")
      }
      // Another post, whose job moves after all that was asked for before.
      let other = try Submitted(
        try await request(
          "POST", "/v1/posts", port: api.port,
          headers: UserClient.backend + [("Content-Type", MultipartForm.moment().contentType)],
          body: MultipartForm.moment().bytes))
      _ = try await api.get(other.path, headers: UserClient.backend)
      try await until { try await Self.order(api) == [other.id, post.id] }
    }
  }

  @Test("a database that only reads answers, and the job goes ahead once it writes and a client reads again")
  func readOnly() async throws {
    let lines = Shared<[String]>([])
    var setting = RunningAPI.Setting()
    setting.log = { line in lines.withLock { $0.append(line) } }
    setting.connections = 1
    try await RunningAPI.with(setting) { api in
      let first = try await Self.submit(api, by: "ada")
      let awaited = try await Self.submit(api, by: "bea")
      _ = try await api.pool.run { try $0.execute("SET default_transaction_read_only = on").count }
      #expect(try await api.get(awaited.path).status == 200)
      try await until { lines.withLock { $0.contains { $0.contains("could not go ahead") } } }
      #expect(try await api.get(awaited.path).status == 200)
      #expect(try await Self.order(api) == [first.id, awaited.id])
      _ = try await api.pool.run { try $0.execute("SET default_transaction_read_only = off").count }
      try await until {
        _ = try await api.get(awaited.path)
        return try await Self.order(api) == [awaited.id, first.id]
      }
    }
  }
}
