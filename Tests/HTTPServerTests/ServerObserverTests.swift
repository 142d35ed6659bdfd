import HTTPServer
import HTTPTesting
import Platform
import Telemetry
import Testing

@Suite("What an observer sees of a server", .tags(.network), .timeLimit(.minutes(60)))
struct ServerObserverTests {
  @Test("an error of a handler is reported, but not sent to the client")
  func handlerError() async throws {
    let (failures, continuation) = AsyncStream.makeStream(of: String.self)
    let observer = ServerObserver(onFailure: { error, request in
      continuation.yield("\(request.method) \(request.target.path): \(error)")
      continuation.finish()
    })
    try await withServer(router: ServerTests.router, observer: observer) { server in
      let response = try await request("GET", "/fails", port: server.port)
      #expect(response.status == 500)
      #expect(!response.text.contains("descriptors"))
    }
    let reported = await failures.reduce(into: []) { $0.append($1) }
    #expect(reported == ["GET /fails: \(ServerError.cannotStart(SystemError(call: "epoll_create1", code: 24)))"])
  }

  @Test("the access log has each request without its query")
  func accessLog() async throws {
    let (records, continuation) = AsyncStream.makeStream(of: AccessRecord.self)
    let observer = ServerObserver(onAccess: { continuation.yield($0) })
    try await withServer(router: ServerTests.router, observer: observer) { server in
      _ = try await request("GET", "/hello/you?token=secret", port: server.port, headers: [("X-Request-Id", "r1")])
    }
    continuation.finish()
    let all = await records.reduce(into: []) { $0.append($1) }
    #expect(all.count == 1)
    #expect(all.first?.path == "/hello/you")
    #expect(all.first?.status == 200)
    #expect(all.first?.bytes == 3)
    #expect(all.first?.requestID.description == "r1")
    #expect(all.first?.isComplete == true)
  }

  @Test("the handler and the access log see the span of the request, and what the handler does belongs to it")
  func traces() async throws {
    let context = TraceContext(ratio: 1)
    let seen = Locked<[TraceContext?]>([])
    let record: @Sendable (AccessRecord) -> Void = { record in seen.withLock { $0.append(record.trace) } }
    let router = Router(
      routes: [
        Route("GET", "/traced", admission: Route.open) { request in
          seen.withLock { $0 += [request.trace, TraceScope.current?.context] }
          return Response(.ok)
        }
      ], fallbackAdmission: Route.open)
    let observer = ServerObserver(onAccess: record, trace: { $0.headers["X-Traced"].map { _ in context } })
    try await withServer(router: router, observer: observer) { server in
      _ = try await request("GET", "/traced", port: server.port, headers: [("X-Traced", "1")])
      _ = try await request("GET", "/traced", port: server.port)
    }
    #expect(seen.withLock { $0 } == [context, context, context, nil, nil, nil])
  }
}
