import Crypto
import Model
import Postgres
import PostgresTesting
import Queue
import Store
import StoreTesting
import Testing

@Suite("Loss of the connection during a transaction", .tags(.database))
struct ConnectionLossTests {
  /// Terminates the session's own backend before the commit.
  private func terminate(_ session: Session, _ url: DatabaseURL) throws {
    let process: Int = try session.execute("SELECT pg_backend_pid()").single().get(0)
    try Session.connect(url, timeout: .seconds(5)).execute(
      "SELECT pg_terminate_backend($1::int, 10000)", .integer(process))
  }

  @Test(
    "a publication whose connection is lost before the commit leaves nothing, and the same attempt can publish again")
  func publishing() async throws {
    try await StoreFixture.with { fixture in
      let id = try await fixture.submit()
      let claim = try await fixture.claim()
      let outputs = try fixture.outputs("lost")
      let recipe = SHA256.digest(of: [1])
      await #expect {
        try await fixture.store.transaction(publishing: outputs, fixture.pool) { session in
          try fixture.store.publish(
            outputs, of: claim.work, recipe: recipe, job: claim.job, verdict: StoreFixture.accepted,
            seconds: 1, session)
          try terminate(session, fixture.url)
        }
      } throws: { error in
        (error as? PostgresError)?.isConnectionLost == true
      }
      #expect(try await fixture.post(id).status == .processing)
      #expect(try await fixture.post(id).job?.state == .executing)
      #expect(try await fixture.count("asset_set") == 1)

      _ = try await fixture.store.transaction(publishing: outputs, fixture.pool) { session in
        try fixture.store.publish(
          outputs, of: claim.work, recipe: recipe, job: claim.job, verdict: StoreFixture.accepted,
          seconds: 1, session)
      }
      #expect(try await fixture.post(id).status == .ready)
      try await fixture.checkFiles()
    }
  }

  @Test("a rejection whose connection is lost before the commit removes no source")
  func rejecting() async throws {
    try await StoreFixture.with { fixture in
      let id = try await fixture.submit()
      let claim = try await fixture.claim()
      let refused = Verdict(
        reasons: [Reason(.corruptVideo, input: .back, detail: "broken")], inputs: [:], decisions: [])
      await #expect(throws: PostgresError.self) {
        try await fixture.pool.transaction { session in
          try fixture.store.reject(claim.work, job: claim.job, verdict: refused, session)
          try terminate(session, fixture.url)
        }
      }
      try await fixture.collect()
      #expect(try await fixture.post(id).status == .processing)
      #expect(try fixture.content(claim.work.moment.front) == "front")
      #expect(try fixture.content(claim.work.moment.back) == "back")
    }
  }
}
