import HTTPServer
import HTTPTesting
import Platform
import Testing

/// Tests of the problems that the server itself reports: clients distinguish them by their types.
@Suite(.tags(.network), .timeLimit(.minutes(60)))
struct ServerProblemTests {
  private struct Failure: Error {}

  private struct Named: Principal { let shareHolder: ShareHolder? = .user([1]) }

  private static let representation = Representation(length: 5, entityTag: EntityTag(strong: "x"), headers: [:])

  private static let router = Router(routes: [
    Route("GET", "/file", admission: Route.open) { request in
      try await representation.respond(to: request) { _ in .bytes(Array("hello".utf8)) }
    },
    Route("GET", "/fails", admission: Route.open) { _ in throw Failure() },
    Route("GET", "/cancelled", admission: Route.open) { _ in throw CancellationError() },
    Route("GET", "/stream", admission: Route.open) { _ in Response(.ok, body: .stream(BodyStream())) },
    Route("GET", "/named", admission: { (_, _) throws(Problem) in .known(Named()) }) { _ in
      Response(.ok, body: .stream(BodyStream()))
    },
    Route("POST", "/body", bodyLimit: 10, admission: Route.open) { request in
      Response(.ok, body: .bytes(try await request.body.collect(upTo: 10)))
    },
  ])

  /// How a client provokes a problem: what it sends on a connection that stays open, and then on another one.
  private struct Case {
    var busy: String?
    let request: String
  }

  private static func get(_ path: String, _ fields: String = "") -> String {
    "GET \(path) HTTP/1.1\r\nHost: x\r\n\(fields)\r\n"
  }

  private static func post(_ fields: String, _ body: String = "") -> String {
    "POST /body HTTP/1.1\r\nHost: x\r\n\(fields)\r\n\r\n\(body)"
  }

  /// The ways to provoke a kind.
  private static func cases(of kind: ServerProblem) -> [Case] {
    switch kind {
    case .malformedRequest:
      [
        Case(request: "X\r\n\r\n"), Case(request: "GET /file HTTP/1.1\r\n\r\n"), Case(request: get("/%zz")),
        Case(request: post("Content-Length: 1\r\nTransfer-Encoding: chunked")),
        Case(request: post("Transfer-Encoding: chunked", "x\r\n")),
        Case(request: get("/file", "X-Forwarded-For: unknown\r\n")),
      ]
    case .resourceNotFound: [Case(request: get("/nowhere"))]
    case .methodNotAllowed: [Case(request: get("/body"))]
    case .requestTimeout:
      [Case(request: "GET /file HTTP/1.1\r\nHost"), Case(request: post("Content-Length: 5", "x"))]
    case .outdatedVersion: [Case(request: get("/file", "If-Match: \"y\"\r\n"))]
    case .bodyTooLarge:
      [
        Case(request: post("Content-Length: 11")),
        Case(request: post("Transfer-Encoding: chunked", "b\r\nhello world\r\n0\r\n\r\n")),
      ]
    case .requestLineTooLong: [Case(request: get("/" + String(repeating: "a", count: 10_000)))]
    case .rangeNotSatisfiable: [Case(request: get("/file", "Range: bytes=7-\r\n"))]
    case .expectationFailed: [Case(request: get("/file", "Expect: tea\r\n"))]
    case .tooManyConnections: [Case(busy: get("/stream"), request: "")]
    case .tooManyRequests: [Case(busy: get("/named"), request: get("/named"))]
    case .headTooLarge:
      [
        Case(request: get("/file", String(repeating: "X: a\r\n", count: 129))),
        Case(request: get("/file", "X: \(String(repeating: "a", count: 40_000))\r\n")),
      ]
    case .internalError: [Case(request: get("/fails"))]
    case .overloaded: [Case(busy: get("/stream"), request: "")]
    case .stopping: [Case(request: get("/cancelled"))]
    case .versionNotSupported: [Case(request: "GET /file HTTP/2.0\r\nHost: x\r\n\r\n")]
    }
  }

  private static func configuration(for kind: ServerProblem) -> ServerConfiguration {
    var configuration = ServerConfiguration()
    configuration.networkThreads = 1
    configuration.trustedProxies = kind == .malformedRequest ? ["127.0.0.1"].compactMap { AddressRange($0) } : []
    switch kind {
    case .requestTimeout:
      (configuration.headTimeout, configuration.requestTimeout) = (.milliseconds(100), .milliseconds(100))
    case .tooManyConnections: configuration.maxPerAddress = 1
    case .tooManyRequests: configuration.maxPerUser = 1
    case .overloaded: configuration.maxConnections = 1
    default: break
    }
    return configuration
  }

  @Test("the server reports each kind of problem with its type, title and status", arguments: ServerProblem.allCases)
  func reported(kind: ServerProblem) async throws {
    for provocation in Self.cases(of: kind) {
      let response = try await withServer(Self.configuration(for: kind), router: Self.router) { server in
        let port = server.port
        return try await onThread("client") {
          var busy = try ClientConnection(port: port)
          if let first = provocation.busy {
            try busy.send(first)
            _ = try busy.receiveHead()
          }
          var connection = try ClientConnection(port: port)
          // The server may have refused it already.
          try? connection.send(provocation.request)
          return try connection.receive()
        }
      }
      Self.expect(response, kind, "\(provocation.request.prefix(60))")
    }
  }

  @Test("a stream beyond the limit of all is refused as one of an overloaded service")
  func streams() async throws {
    var configuration = ServerConfiguration()
    configuration.maxStreams = 1
    let response = try await withServer(configuration, router: Self.router) { server in
      let port = server.port
      return try await onThread("client") {
        var first = try ClientConnection(port: port)
        try first.send(Self.get("/stream"))
        _ = try first.receiveHead()
        var second = try ClientConnection(port: port)
        try second.send(Self.get("/stream"))
        return try second.receive()
      }
    }
    Self.expect(response, .overloaded, "stream")
  }

  @Test("no two kinds have the same type, and each type is of the product")
  func types() {
    let types = ServerProblem.allCases.map(\.type)
    #expect(Set(types).count == types.count)
    #expect(types.allSatisfy { $0.hasPrefix("urn:take5:problem:") })
  }

  private static func expect(_ response: ClientResponse, _ kind: ServerProblem, _ comment: Comment) {
    #expect(response.status == kind.status.code, comment)
    #expect(response.headers["content-type"] == "application/problem+json", comment)
    let start = #"{"type":"\#(kind.type)","title":"\#(kind.title)","status":\#(kind.status.code),"detail":""#
    #expect(response.text.hasPrefix(start), comment)
    if [429, 503].contains(response.status) { #expect(response.headers["retry-after"] != nil, comment) }
  }
}
