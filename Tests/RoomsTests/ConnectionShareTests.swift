import HTTPTesting
import PostgresTesting
import Testing
import WaitTesting

@testable import HTTPServer
@testable import Kit
@testable import Rooms

@Suite("The requests that one user has in progress", .tags(.database, .network), .timeLimit(.minutes(60)))
struct ConnectionShareTests {
  @Test("they include a key that acts as the user, and tokens of whatever age; other users are served")
  func user() async throws {
    var setting = RunningAPI.Setting()
    setting.server.maxPerUser = 1
    try await UserClient.with(setting) { api in
      func status(_ credential: [(String, String)]) async throws -> Int {
        try await api.get("/v1/window", headers: credential).status
      }
      let ada = UserClient.backend + [("Take5-User", "ada")]
      let minted = try await UserClient.send("POST", "/v1/users/ada/tokens", UserClient.backend, "{}", api)
      let token = try UserClient.bearer(minted)
      let stream = try EventReader.open(port: api.port, "/v1/events", ada)
      // The first request with the token waits for the database, and the second does not.
      for credential in [ada, token, token] { #expect(try await status(credential) == 429) }
      #expect(try await status(UserClient.backend + [("Take5-User", "bob")]) == 200)
      #expect(try await status(UserClient.backend) == 200)
      _ = consume stream
      try await until { try await status(token) == 200 }
    }
  }

  @Test("only the check whether the process lives is answered without a handler")
  func answered() async throws {
    let routes = try await RunningAPI.with { api in api.routes.filter { $0.answer != nil }.map(\.template) }
    #expect(routes == ["/livez"])
  }
}
