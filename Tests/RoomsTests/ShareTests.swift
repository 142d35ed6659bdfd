import HTTPServer
import HTTPTesting
import Model
import Platform
import Postgres
import PostgresTesting
import Testing
import WaitTesting

@testable import Kit
@testable import Rooms

@Suite("What one client can occupy", .tags(.database, .network), .timeLimit(.minutes(60)))
struct ShareTests {
  private static func user(_ name: String) -> [(String, String)] { [("Take5-User", name)] }

  @Test("a user or a client without one holds a share of the submissions, and another client's is admitted")
  func submissions() async throws {
    for (user, other, held) in [("ada", "bob", 16), (nil, "bob", 10)] {
      try await RunningAPI.with(.init(api: .init(maxSubmissions: 20))) { api in
        let (port, gate) = (api.port, Channel<Int>(capacity: 1))
        try await withThrowingTaskGroup(of: Int.self) { group in
          for _ in 0..<held { group.addTask { try await OverloadTests.submitSlowly(port, as: user, gate) } }
          try await OverloadTests.admitted(held, by: api.submissions.limit)
          let refused = try await OverloadTests.headOfRefusal(port, as: user)
          #expect(refused.hasPrefix("HTTP/1.1 429 ") && refused.lowercased().contains("retry-after: "))
          let problem = try await api.submit(.moment(), headers: user.map(Self.user) ?? [])
          #expect(UserClient.kind(problem) == "too_many_requests")
          let form = MultipartForm.moment(post: #"{"author":"\#(other)"}"#)
          #expect(try await api.submit(form, headers: Self.user(other)).status == 202)
          gate.close()
          for try await status in group { #expect(status == 202) }
        }
        // What has ended counts no more.
        #expect(api.submissions.limit.count == 0)
        #expect(try await api.submit(.moment(), headers: user.map(Self.user) ?? []).status == 202)
      }
    }
  }

  @Test("a user has its share, an API key and an address half of all, and beyond all each is refused for a while")
  func holders() throws {
    let limit = SharedLimit("thing", max: 8, userShare: 2)
    func taken(by holder: ShareHolder) -> (places: Int, refusal: String) {
      var places = 0
      // Ends: at the limit, which refuses.
      while true {
        do { try limit.take(holder) } catch { return (places, "\(error.status.code)") }
        places += 1
      }
    }
    let key = ShareHolder.key("k")
    let address = ShareHolder.address(try #require(IPAddress("203.0.113.1")))
    for (holder, share) in [(ShareHolder.user(id: "ada"), 2), (key, 4), (address, 4)] {
      #expect(taken(by: holder) == (share, "429"))
      for _ in 0..<share { limit.leave(holder) }
    }
    #expect(taken(by: key) == (4, "429") && taken(by: address) == (4, "429"))
    #expect(taken(by: .user(id: "ada")) == (0, "503"))
    limit.leave(key)
    #expect(taken(by: .user(id: "ada")) == (1, "503"))
  }

  @Test("a user holds a share of the parts of uploads, and another user's is admitted")
  func parts() async throws {
    var setting = RunningAPI.Setting()
    setting.api.openUploads.user.uploads = 100
    try await RunningAPI.with(setting) { api in
      let port = api.port
      let sending = try await onThread("client") {
        try (0..<64).map { _ in
          let connection = try ClientConnection(port: port)
          try connection.send(
            "POST /v1/uploads HTTP/1.1\r\nHost: localhost\r\nTake5-User: ada\r\nUpload-Complete: ?1\r\n"
              + "Content-Length: 10\r\n\r\nabc")
          return Sending(connection)
        }
      }
      try await OverloadTests.admitted(64, by: api.api.uploads.parts)
      let fields = [("Upload-Complete", "?1")]
      func create(_ user: String) async throws -> ClientResponse {
        try await request(
          "POST", "/v1/uploads", port: port, headers: Self.user(user) + fields, body: Array("abc".utf8))
      }
      let refused = try await create("ada")
      #expect(refused.status == 429 && UserClient.kind(refused) == "too_many_requests")
      #expect(refused.headers["retry-after"] != nil)
      #expect(try await create("bob").status == 201)
      withExtendedLifetime(sending) {}
    }
  }

  @Test("a user has one export at a time, a client without one half of them, and another user has another one")
  func exports() async throws {
    try await RunningAPI.with { api in
      let port = api.port
      @Sendable func head(_ user: String?) throws -> (String, Sending) {
        var connection = try ClientConnection(port: port)
        let field = user.map { "Take5-User: \($0)\r\n" } ?? ""
        try connection.send("GET /v1/users/\(user ?? "cy")/export HTTP/1.1\r\nHost: localhost\r\n\(field)\r\n")
        return (try connection.receiveHead(), Sending(connection))
      }
      try await api.whileLocked("app_user", in: "ACCESS EXCLUSIVE MODE") {
        try await onThread("client") {
          let exports = [try head("ada"), try head(nil)]
          for export in exports { #expect(export.0.hasPrefix("HTTP/1.1 200 ")) }
          #expect(try head("ada").0.hasPrefix("HTTP/1.1 429 "))
          let others = [try head("bob"), try head(nil)]
          for export in others { #expect(export.0.hasPrefix("HTTP/1.1 200 ")) }
          #expect(try head("eve").0.hasPrefix("HTTP/1.1 503 "))
          withExtendedLifetime((exports, others)) {}
        }
      }
      try await until { try await api.get("/v1/users/ada/export", headers: Self.user("ada")).status == 200 }
    }
  }

  @Test("a user has a share of the requests that wait; a submission beyond it is stored, and answered at once")
  func waits() async throws {
    try await RunningAPI.with { api in
      let port = api.port
      let url = try #require(try await api.submit(.moment(), headers: Self.user("ada")).json["job"]["url"].text)
      let waiting = try await onThread("client") {
        try (0..<16).map { _ in
          let connection = try ClientConnection(port: port)
          try connection.send("GET \(url)?wait=60 HTTP/1.1\r\nHost: localhost\r\nTake5-User: ada\r\n\r\n")
          return Sending(connection)
        }
      }
      try await OverloadTests.admitted(16, by: api.submissions.waits)
      let refused = try await api.get("\(url)?wait=60", headers: Self.user("ada"))
      #expect(refused.status == 429 && UserClient.kind(refused) == "too_many_requests")
      #expect(refused.headers["retry-after"] != nil)
      let submitted = try await api.submit(.moment(), headers: Self.user("ada") + [("Prefer", "wait=60")])
      #expect(submitted.status == 202 && submitted.headers["preference-applied"] == nil)
      // Without a wait it is not limited, and another client waits.
      #expect(try await api.get(url, headers: Self.user("ada")).status == 200)
      #expect(try await api.get("\(url)?wait=1").status == 200)
      let id = try #require(url.split(separator: "/").last)
      #expect(try await request("POST", "/v1/jobs/\(id)/cancel", port: port).status == 200)
      for request in waiting { #expect(try await onThread("client") { try request.receive() }.status == 200) }
      #expect(api.submissions.waits.count == 0)
    }
  }
}
