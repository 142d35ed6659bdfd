import Crypto
import Dispatch
import HTTPTesting
import Model
import Platform
import Postgres
import Store
import Testing

@testable import Kit
@testable import Rooms

@Suite("Idempotency keys", .tags(.database, .network), .timeLimit(.minutes(60)))
struct IdempotencyTests {
  private static let key = [("Idempotency-Key", "\"8e03978e-40d5-43e8-bc93-6894a57f9324\"")]

  @Test("a repeated request with the same key and payload gets the first response and stores one post")
  func replay() async throws {
    try await RunningAPI.with { api in
      let first = try await api.submit(.moment(), headers: Self.key)
      #expect(first.status == 202)
      #expect(first.headers["idempotency-replayed"] == nil)
      let second = try await api.submit(.moment(), headers: Self.key)
      #expect(second.status == 202)
      #expect(second.headers["idempotency-replayed"] == "true")
      #expect(second.headers["location"] == first.headers["location"])
      #expect(second.body == first.body)
      let bare = try await api.submit(.moment(), headers: [("Idempotency-Key", "8e03978e-40d5-43e8-bc93-6894a57f9324")])
      #expect(bare.body == first.body)
      #expect(try await posts(api) == 1)
      // Without a key, the same payload is stored as another post.
      #expect(try await api.submit(.moment()).json["id"] != first.json["id"])
      #expect(try await posts(api) == 2)
    }
  }

  @Test("another payload with the same key is refused, and so is an invalid key")
  func otherPayload() async throws {
    try await RunningAPI.with { api in
      #expect(try await api.submit(.moment(), headers: Self.key).status == 202)
      let other = try await api.submit(.moment(post: #"{"author":"eve"}"#), headers: Self.key)
      #expect(other.status == 422)
      #expect(other.json["type"] == .string("urn:take5:problem:idempotency_key_reused"))
      for value in ["", "\"\"", "a b", "\"" + String(repeating: "k", count: 201) + "\""] {
        #expect(try await api.submit(.moment(), headers: [("Idempotency-Key", value)]).status == 400, "\(value)")
      }
      #expect(try await posts(api) == 1)
    }
  }

  @Test("a request with a key in use is refused, and a failed request stores no response")
  func running() async throws {
    try await RunningAPI.with { api in
      let key = IdempotencyKey(tenant: "", key: "k", fingerprint: SHA256.digest(of: []))
      struct Failure: Error {}
      await #expect(throws: Failure.self) {
        try await api.pool.transaction { session in
          _ = try Idempotency.once(key, session) { throw Failure() }
        }
      }
      let held = OneShot<Void>()
      let proceed = DispatchSemaphore(value: 0)
      let first = Task {
        try await api.pool.transaction { session in
          _ = try Idempotency.once(key, session) {
            held.fulfil(())
            proceed.wait()
            return IdempotentResponse(status: 200, location: nil, body: [])
          }
        }
      }
      await held.value
      await #expect(throws: Idempotency.Fault.running) {
        try await api.pool.transaction { session in
          _ = try Idempotency.once(key, session) { IdempotentResponse(status: 201, location: nil, body: []) }
        }
      }
      proceed.signal()
      try await first.value
      let (response, isReplay) = try await api.pool.transaction { session in
        try Idempotency.once(key, session) { IdempotentResponse(status: 201, location: nil, body: []) }
      }
      #expect(isReplay && response.status == 200)
    }
  }

  private func posts(_ api: RunningAPI) async throws -> Int {
    try await api.pool.run { try $0.execute("SELECT count(*)::int AS count FROM post").single().get("count") }
  }
}
