import HTTPTesting
import Model
import Store
import Testing

@testable import Kit
@testable import Rooms

@Suite("Upload grants", .tags(.database, .network), .timeLimit(.minutes(60)))
struct UploadGrantTests {
  /// Runs a test with a token that permits one submission.
  private static func with(
    _ kinds: [SubmissionKind] = [.marker], bytes: Int64 = 1000,
    _ body: (RunningAPI, RunningAPI.Token) async throws -> Void
  ) async throws {
    try await RunningAPI.with { api in
      let key = try await api.createKey("t5-backend", [.tokens])
      try await body(
        api, api.token(of: "ada", minter: .key(key), grant: UploadGrant(kinds: kinds, bytes: bytes)))
    }
  }

  private static func submit(
    _ token: RunningAPI.Token, _ headers: [(String, String)], _ body: String,
    _ api: RunningAPI
  ) async throws -> ClientResponse {
    try await request(
      "POST", "/v1/posts", port: api.port, headers: token.header + headers + [("Content-Type", "application/json")],
      body: Array(body.utf8))
  }

  private static func submit(_ token: RunningAPI.Token, _ api: RunningAPI) async throws -> ClientResponse {
    try await submit(token, [], api)
  }

  private static func submit(
    _ token: RunningAPI.Token, _ headers: [(String, String)], _ api: RunningAPI
  ) async throws -> ClientResponse {
    try await submit(token, headers, #"{"kind":"marker","title":"x"}"#, api)
  }

  private static func isRefused(_ response: ClientResponse) -> Bool {
    response.status == 403 && response.json["type"] == .string("urn:take5:problem:not_granted")
  }

  @Test("of submissions at the same time exactly one uses the grant")
  func once() async throws {
    try await Self.with { api, token in
      let statuses: [Int] = try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<8 { group.addTask { try await Self.submit(token, api).status } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses.sorted() == [201] + [Int](repeating: 403, count: 7))
      #expect(try await api.storedCount() == 1)
      #expect(Self.isRefused(try await Self.submit(token, api)))
    }
  }

  @Test("a repetition with the same Idempotency-Key gets the stored response, and another key is refused")
  func replay() async throws {
    try await Self.with { api, token in
      let first = try await Self.submit(token, [("Idempotency-Key", "k1")], api)
      #expect(first.status == 201)
      let again = try await Self.submit(token, [("Idempotency-Key", "k1")], api)
      #expect(again.body == first.body && again.headers["idempotency-replayed"] == "true")
      #expect(Self.isRefused(try await Self.submit(token, [("Idempotency-Key", "k2")], api)))
      #expect(try await api.storedCount() == 1)
    }
  }

  @Test("another kind, a longer body and a body without a length are refused, and do not use the grant")
  func limits() async throws {
    try await Self.with([.marker], bytes: 200) { api, token in
      #expect(Self.isRefused(try await Self.submit(token, [], #"{"kind":"photo","title":"x"}"#, api)))
      let long = #"{"kind":"marker","title":"\#(String(repeating: "x", count: 200))"}"#
      #expect(Self.isRefused(try await Self.submit(token, [], long, api)))
      let head = "POST /v1/posts HTTP/1.1\r\nHost: localhost\r\n\(token.header[0].0): \(token.header[0].1)\r\n"
      let chunked = try await exchange(head + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", port: api.port)
      #expect(Self.isRefused(chunked))
      let image = try await request(
        "PUT", "/v1/users/ada/profile-image", port: api.port, headers: token.header + [("Content-Type", "image/jpeg")],
        body: PhotoSubmissionTests.jpeg)
      #expect(Self.isRefused(image))
      // An invalid submission does not use it either.
      #expect(try await Self.submit(token, [], #"{"kind":"marker"}"#, api).status == 400)
      #expect(try await Self.submit(token, api).status == 201)
    }
  }
}
