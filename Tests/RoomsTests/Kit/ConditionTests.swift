import HTTPServer
import HTTPTesting
import Model
import Testing

@testable import Kit
@testable import Rooms

/// `If-Match` of every route that changes or deletes, with the requests of docs/access.md, whose table has all routes.
@Suite("Conditions of changes and deletions", .tags(.database, .network), .timeLimit(.minutes(60)))
struct ConditionTests {
  @Test("every PATCH and DELETE with an outdated If-Match is refused and has no effect")
  func outdated() async throws {
    try await Self.forEachRow { api, row, path, send in
      let refused = try await send([("If-Match", "\"outdated\"")])
      #expect(refused.status == 412, "\(path)")
      #expect(UserClient.kind(refused) == "outdated_version", "\(path)")
      #expect(refused.json["remedy"].text?.isEmpty == false)
      #expect(try await send([("If-Match", "")]).status == 412, "\(path), empty")
      // Nothing was deleted or changed: the same request has its effect.
      #expect(try await send([("If-Match", "*")]).status == Self.success(row), "\(path)")
    }
  }

  @Test("every PATCH and DELETE with the current version has its effect")
  func current() async throws {
    try await Self.forEachRow { api, row, path, send in
      guard let tag = try await Self.version(of: path, row, api) else { return }
      #expect(try await send([("If-Match", "\"outdated\", \(tag)")]).status == Self.success(row), "\(path)")
    }
  }

  private static func success(_ row: AccessTable.Row) -> Int {
    let column: AccessTable.Client = row.access == .token ? .tokenOfAda : .key
    return row.responses[column]?.first.flatMap { Int($0) } ?? 0
  }

  /// Runs a body with each row of PATCH and DELETE, and a function that sends its request.
  private static func forEachRow(
    _ body: (
      RunningAPI, AccessTable.Row, String, @escaping ([(String, String)]) async throws -> ClientResponse
    ) async throws -> Void
  ) async throws {
    let table = try AccessTable()
    try await RunningAPI.with { api in
      let rows = table.rows.filter { ["PATCH", "DELETE"].contains($0.method) }
      let routes = api.routes.filter { ["PATCH", "DELETE"].contains($0.method) }.map { "\($0.method) \($0.template)" }
      #expect(Set(rows.map { "\($0.method) \($0.template)" }) == Set(routes))
      for row in rows {
        let fixture = try await AccessFixture(api, visibility: .public)
        let sent = fixture.request(row, author: "ada")
        let token = row.access == .token ? try await api.token(of: "ada", minter: .anybody).header : []
        let type = sent.type.map { [("Content-Type", $0)] } ?? []
        try await body(api, row, sent.path) { condition in
          let headers = token + type + sent.headers.filter { $0.0 != "If-Match" } + condition
          return try await request(row.method, sent.path, port: api.port, headers: headers, body: sent.body)
        }
      }
    }
  }

  /// The version that a client reads of what a row deletes or changes; nil: it has none that can be read.
  private static func version(of path: String, _ row: AccessTable.Row, _ api: RunningAPI) async throws -> String? {
    switch row.template {
    case "/v1/posts/{id}/reactions/{image}", "/v1/places/{id}/photos/{image}":
      let image = path.split(separator: "/").last ?? ""
      return try await #require(api.get("/v1/images/\(image)").headers["etag"] as String?)
    // The thumbnail of a collection is read with the collection.
    case "/v1/collections/{id}/thumbnail":
      let image = path.replacing("collections", with: "itineraries")
      return try await #require(api.get(image).headers["etag"] as String?)
    case "/v1/collections/{id}/members/{user}", "/v1/collections/{id}/link": return nil
    // Only the response that mints a token, or registers a device, has its version; the list has none.
    case let template where ["tokens", "devices", "sessions"].contains { template.contains($0) }: return nil
    // Quarantined media do not change, and a sign-in is of the browser.
    case "/v1/operations/quarantine/{hash}", "/console/session": return nil
    // An upload has an offset instead.
    case "/v1/uploads/{id}": return nil
    default: return try await #require(api.get(path).headers["etag"] as String?, "\(path)")
    }
  }

  @Test("a minted token is revoked by its version, and not by that before its grant was used")
  func token() async throws {
    try await UserClient.with { api in
      let minted = try await UserClient.send("POST", "/v1/users/ada/tokens", UserClient.backend, "{}", api)
      let tag = try #require(minted.headers["etag"])
      let path = "/v1/users/ada/tokens/\(try #require(minted.json["id"].text))"
      let condition = UserClient.backend + [("If-Match", tag)]
      #expect(try await UserClient.send("DELETE", path, condition, nil, api).status == 204)
      let grant = #"{"grant":{"kinds":["marker"],"bytes":1000}}"#
      let granted = try await UserClient.send("POST", "/v1/users/ada/tokens", UserClient.backend, grant, api)
      let body = #"{"kind":"marker","title":"Once"}"#
      #expect(try await UserClient.send("POST", "/v1/posts", UserClient.bearer(granted), body, api).status == 201)
      let used = "/v1/users/ada/tokens/\(try #require(granted.json["id"].text))"
      let outdated = UserClient.backend + [("If-Match", try #require(granted.headers["etag"]))]
      #expect(try await UserClient.send("DELETE", used, outdated, nil, api).status == 412)
    }
  }
}
