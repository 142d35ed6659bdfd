import HTTPServer
import HTTPTesting
import Platform
import Telemetry
import Testing

@Suite("The admission of requests", .tags(.network), .timeLimit(.minutes(60)))
struct AdmissionTests {
  @Test("the admission refuses requests with and without a route")
  func admission() async throws {
    let router = Router(
      routes: [
        Route("GET", "/open", admission: Route.open) { _ in Response(.ok) },
        Route("POST", "/closed", bodyLimit: 10, admission: Self.refuse) { _ in Response(.ok) },
      ], fallbackAdmission: Self.refuse)
    try await withServer(router: router) { server in
      #expect(try await request("GET", "/open", port: server.port).status == 200)
      for (method, path) in [("POST", "/closed"), ("GET", "/closed"), ("GET", "/nowhere"), ("POST", "/open")] {
        let refused = try await request(method, path, port: server.port)
        #expect(refused.status == 401)
        #expect(refused.headers["www-authenticate"] == "Bearer")
      }
    }
  }

  @Test("an admission that waits runs before the handler, and before a path without a route is reported")
  func pending() async throws {
    let admission: Route.Admission = { (head, _) throws(Problem) in
      let name = head.headers["Authorization"] ?? ""
      return .pending {
        guard name != "stranger" else { throw Problem(.unauthorized, type: "urn:x", title: "X", detail: "no") }
        return Named(name: name)
      }
    }
    let router = Router(
      routes: [
        Route("POST", "/name", bodyLimit: 10, admission: admission) { request in
          Response(.ok, body: .bytes(Array((request.principal as? Named)?.name.utf8 ?? "".utf8)))
        }
      ], fallbackAdmission: admission)
    try await withServer(router: router) { server in
      func send(_ method: String, _ path: String, _ name: String) async throws -> ClientResponse {
        try await request(
          method, path, port: server.port, headers: [("Authorization", name)], body: Array("0123456789".utf8))
      }
      let named = try await send("POST", "/name", "ada")
      #expect(named.status == 200 && named.text == "ada")
      #expect(try await send("GET", "/name", "ada").status == 405)
      #expect(try await send("POST", "/nowhere", "ada").status == 404)
      for (method, path) in [("POST", "/name"), ("GET", "/name"), ("POST", "/nowhere")] {
        #expect(try await send(method, path, "stranger").status == 401)
      }
    }
  }

  private struct Named: Principal {
    let name: String
    var shareHolder: ShareHolder? { .user(Array(name.utf8)) }
  }

  private static let refuse: Route.Admission = { (_, _) throws(Problem) in
    throw Problem(
      .unauthorized, type: "urn:x", title: "X", detail: "no", headers: ["WWW-Authenticate": "Bearer"])
  }
}
