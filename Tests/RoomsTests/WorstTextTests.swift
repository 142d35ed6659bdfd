import HTTPTesting
import Model
import Platform
import Testing

@testable import HTTPServer
@testable import Kit
@testable import Rooms

/// Text whose normalisation would cost with the square of its length, at each door: nothing compares it before it is refused.
@Suite("The worst text of strangers", .tags(.database, .network), .timeLimit(.minutes(60)))
struct WorstTextTests {
  /// Marks in the descending order of their combining classes.
  private static let marks = ["\u{345}", "\u{315}", "\u{301}", "\u{316}", "\u{327}", "\u{334}"]
    .map { String(repeating: $0, count: 900) }.joined()
  private static let escapes = String(repeating: #"\u0345\u0301"#, count: 2000)

  @Test("every route that reads JSON refuses it, from a key and from a user")
  func bodies() async throws {
    var setting = RunningAPI.Setting()
    (setting.key, setting.passwords) = ("k1", try PasswordWork())
    setting.limits.addressAttempts = 10_000
    try await RunningAPI.with(setting) { api in
      let ada = #"{"user_name":"ada","password":"correct horse"}"#
      let user = try UserClient.bearer(try await UserClient.send("POST", "/v1/accounts", [], ada, api))
      // One takes a body, and does not read it.
      let routes = api.routes.filter {
        $0.bodyLimit == JSONBody.limit && $0.method != "GET"
          && ($0.method, $0.template) != ("POST", "/v1/accounts/current/verification")
      }
      #expect(routes.count > 20)
      for route in routes {
        let path = route.template.split(separator: "/").map { $0.hasPrefix("{") ? "\(PublicID.now())" : String($0) }
        for (body, reason) in [
          (#"{"a\#(Self.marks)":1}"#, "longer than 100 bytes"), (#"{"\#(Self.escapes)":1}"#, "longer than 100 bytes"),
          (#"{"a":"\#(Self.marks)"}"#, "combining marks"), (#"{"a":["\#(Self.escapes)"]}"#, "combining marks"),
        ] {
          var refusals: [String] = []
          for credential in [[("Authorization", "Bearer k1")], user] {
            let response = try await UserClient.send(
              route.method, "/" + path.joined(separator: "/"), credential + [("If-Match", "\"x\"")], body, api)
            refusals.append(response.text)
            #expect(400..<500 ~= response.status, "\(route.method) \(route.template)")
          }
          #expect(refusals.contains { $0.contains(reason) }, "\(route.method) \(route.template): \(refusals)")
        }
      }
    }
  }

  @Test("paths, queries, fields of a head and parts of forms refuse it, or take it as bytes")
  func others() async throws {
    var setting = RunningAPI.Setting()
    setting.key = "k1"
    setting.server.allowedOrigins = try AllowedOrigins(["https://app.example.org"])
    try await RunningAPI.with(setting) { api in
      let key = ("Authorization", "Bearer k1")
      let encoded = Self.marks.utf8.prefix(2000).map { "%" + String($0, radix: 16) }.joined()
      for path in ["/v1/users/a\(encoded)", "/v1/posts?a\(encoded)=1", "/v1/posts?kind=a\(encoded)"] {
        #expect(try await api.get(path, headers: [key]).status == 400)
      }
      let long = try await api.get("/v1/posts?\(String(repeating: "n", count: 101))=1", headers: [key])
      #expect(long.status == 400 && long.json["errors"][0]["field"].text == "query")
      for field in [
        "Origin", "Sec-Fetch-Site", "Connection", "Accept", "Accept-Encoding", "Prefer", "If-None-Match", "Cookie",
      ] {
        let response = try await api.get("/v1/posts", headers: [key, (field, "a\(Self.marks)")])
        #expect(response.status == 200, "\(field)")
      }
      for type in ["application/json\(Self.marks)", "a\(Self.marks)"] {
        let response = try await request(
          "POST", "/v1/webhooks", port: api.port, headers: [key, ("Content-Type", type)], body: Array("{}".utf8))
        #expect(response.status == 415, "\(response.text.prefix(200))")
      }
      for (name, text) in [("a\(Self.marks)", "x"), ("kind", "a\(Self.marks)"), ("caption", Self.marks)] {
        var form = MultipartForm()
        form.add("author", Array("ada".utf8))
        form.add(name, Array(text.utf8))
        let response = try await request(
          "POST", "/v1/posts", port: api.port, headers: [key, ("Content-Type", form.contentType)], body: form.bytes)
        #expect(400..<500 ~= response.status, "\(response.text.prefix(200))")
      }
    }
  }
}
