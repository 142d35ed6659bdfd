import Crypto
import Postgres
import PostgresTesting
import StoreTesting
import Testing

@testable import Store

@Suite("Idempotency keys", .tags(.database), .timeLimit(.minutes(60)))
struct IdempotencyTests {
  @Test(
    "a repetition gets its response from a transaction that waits for the standbys, and a key that is not known from none"
  )
  func standbys() async throws {
    try await StoreFixture.with { fixture in
      let head = SHA256.digest(of: [2])
      let key = IdempotencyKey(tenant: "", key: "k", fingerprint: SHA256.digest(of: [1]), head: head)
      // A transaction with an id waits for them as it commits (PostgreSQL manual, "Asynchronous Commit").
      let hasID = Statement(name: "has_id", text: "SELECT pg_current_xact_id_if_assigned() IS NOT NULL AS has_id")
      try await fixture.pool.transaction { session throws in
        #expect(try Idempotency.response(tenant: "", key: "k", head: head, session) == nil)
        #expect(try !session.execute(hasID).single().get("has_id", as: Bool.self))
        _ = try Idempotency.once(key, session) { IdempotentResponse(status: 202, location: nil, body: []) }
      }
      for replay in [true, false] {
        try await fixture.pool.transaction { session throws in
          if replay {
            #expect(try Idempotency.response(tenant: "", key: "k", head: head, session)?.status == 202)
          } else {
            #expect(
              try Idempotency.once(key, session) { IdempotentResponse(status: 500, location: nil, body: []) }.isReplay)
          }
          #expect(try session.execute(hasID).single().get("has_id", as: Bool.self))
        }
      }
    }
  }
}
