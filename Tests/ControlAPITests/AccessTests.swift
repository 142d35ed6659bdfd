import ControlAPI
import HTTPServer
import HTTPTesting
import Testing

struct BearerKeyTests {
  private let key = BearerKey("s3cret-key")

  @Test(arguments: ["Bearer s3cret-key", "bearer s3cret-key", "Bearer   s3cret-key"])
  func admitsTheKey(value: String) throws {
    #expect(throws: Never.self) { try key.admit(["authorization": value]) }
  }

  @Test(arguments: [
    "", "Bearer", "Bearer ", "Bearer s3cret-kez", "Bearer s3cret-key2", "Basic s3cret-key", "s3cret-key",
  ])
  func refusesEverythingElse(value: String) {
    #expect(throws: Problem.self) { try key.admit(["Authorization": value]) }
  }
}

@Suite(.tags(.database, .network), .timeLimit(.minutes(10)))
struct AccessTests {
  @Test func everyRequestNeedsTheKey() async throws {
    try await RunningAPI.with(.init(key: BearerKey("k1"))) { api in
      for path in ["/livez", "/readyz", "/v1/posts/x", "/nowhere"] {
        let refused = try await api.get(path)
        #expect(refused.status == 401)
        #expect(refused.headers["www-authenticate"]?.hasPrefix("Bearer") == true)
        #expect(refused.headers["content-type"] == "application/problem+json")
      }
      let upload = try await api.submit(.moment())
      #expect(upload.status == 401)
      #expect(try await api.remains() == 0)
      #expect(try await api.get("/livez", headers: [("Authorization", "Bearer k1")]).status == 200)
      #expect(try await api.submit(.moment(), headers: [("Authorization", "Bearer k1")]).status == 202)
    }
  }
}
