import HTTPServer
import HTTPTesting
import Platform
import Telemetry
import Testing
import WaitTesting

@Suite("Handlers that wait for the disk", .tags(.network), .timeLimit(.minutes(60)))
struct DiskHandlerTests {
  private static let diskProblem = Problem(
    .serviceUnavailable, type: "urn:x", title: "X", detail: "The disk hangs.")

  @Test("a handler that waits for the disk delays no other request")
  func waitsForDisk() async throws {
    let isOnDisk = try Event()
    let (started, isStarted) = AsyncStream.makeStream(of: Void.self)
    let slow = Route("GET", "/slow", diskProblem: Self.diskProblem, admission: Route.open) { _ in
      isStarted.finish()
      isOnDisk.wait()
      return Response(.ok)
    }
    var configuration = ServerConfiguration()
    (configuration.handlerThreads, configuration.diskThreads) = (1, 1)
    try await withServer(configuration, router: Router(routes: ServerTests.routes + [slow])) { server in
      let port = server.port
      async let late = request("GET", "/slow", port: port)
      // Also if the test fails before: the server waits for its handlers.
      defer { isOnDisk.signal() }
      for await _ in started {}
      let other = try await request("GET", "/hello/you", port: port)
      isOnDisk.signal()
      #expect(other.status == 200)
      #expect(try await late.status == 200)
    }
  }

  @Test("a handler whose disk hangs is answered for, its client goes on, and so does each thread once the disk answers")
  func hangingDisk() async throws {
    let isOnDisk = try Event()
    let ended = Channel<Bool>(capacity: 64)
    let hanging = Route("POST", "/hanging", bodyLimit: 10, diskProblem: Self.diskProblem, admission: Route.open) {
      request in
      isOnDisk.wait()
      // What was refused goes no further.
      _ = ended.put(Task.isCancelled)
      return Response(.ok)
    }
    let quick = Route("GET", "/quick", diskProblem: Self.diskProblem, admission: Route.open) { _ in Response(.ok) }
    var configuration = ServerConfiguration()
    (configuration.handlerThreads, configuration.diskThreads, configuration.diskTime) = (1, 1, .zero)
    try await withServer(configuration, router: Router(routes: [hanging, quick])) { server in
      defer { isOnDisk.signal() }
      let port = server.port
      for _ in 0..<3 {
        #expect(try await request("POST", "/hanging", port: port, body: [1]).status == 503)
        // A quick request that is running as the server looks for stuck ones is taken for one: it has no time at all here.
        try await until { try await request("GET", "/quick", port: port).status == 200 }
      }
      // Until no thread is left for further requests.
      try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<20 {
          group.addTask { try await request("POST", "/hanging", port: port, body: [1]).status }
        }
        for try await status in group { #expect(status == 503) }
      }
      #expect(try await request("GET", "/quick", port: port).status == 503)
      isOnDisk.signal()
      try await until { try await request("GET", "/quick", port: port).status != 503 }
      for _ in 0..<18 { #expect(try await onThread("test") { ended.take() } == true) }
      try await until { try await request("GET", "/quick", port: port).status == 200 }
    }
  }

  @Test("after a commit neither an error nor a disk that hangs reaches the client")
  func committed() async throws {
    let isOnDisk = try Event()
    let isLate = try Event()
    func route(_ path: String, _ rest: @escaping @Sendable () throws -> Response) -> Route {
      Route("POST", path, bodyLimit: 10, diskProblem: Self.diskProblem, admission: Route.open) { request in
        request.commit(Response(.accepted))
        return try rest()
      }
    }
    let routes = [
      route("/throws") { throw SystemError(call: "rename", code: 2) },
      route("/refuses") { throw Self.diskProblem },
      route("/cancelled") { throw CancellationError() },
      route("/responds") { Response(.created) },
      route("/hangs") {
        isOnDisk.wait()
        return Response(.created)
      },
      route("/late") {
        isLate.wait()
        return Response(.created)
      },
    ]
    var configuration = ServerConfiguration()
    // Not less: a request that only waits for its turn before it commits would be taken for one that hangs.
    configuration.diskTime = .seconds(2)
    try await withServer(configuration, router: Router(routes: routes)) { server in
      defer { isOnDisk.signal() }
      for (path, status) in [("/hangs", 202), ("/throws", 202), ("/refuses", 202), ("/cancelled", 202)] {
        let response = try await request("POST", path, port: server.port, body: [1])
        #expect(response.status == status, "\(path)")
      }
    }
    configuration.diskTime = .seconds(60)
    try await withServer(configuration, router: Router(routes: routes)) { server in
      let response = try await request("POST", "/responds", port: server.port, body: [1])
      #expect(response.status == 201)
    }
    // Its time is over after it has committed and before it has responded.
    configuration.requestTimeout = .seconds(5)
    try await withServer(configuration, router: Router(routes: routes)) { server in
      defer { isLate.signal() }
      let response = try await request("POST", "/late", port: server.port, body: [1])
      #expect(response.status == 202)
    }
  }

  @Test("a server that has ended keeps nothing of its routes, whether their handlers may wait for a disk or not")
  func ended() async throws {
    final class Kept: Sendable {
      let ended = OneShot<Void>()

      deinit { ended.fulfil(()) }
    }
    func serve(_ kept: Kept) async throws -> OneShot<Void> {
      let routes = [("/disk", Self.diskProblem), ("/path", nil)].map { path, problem in
        Route("GET", path, diskProblem: problem, admission: Route.open) { _ in
          withExtendedLifetime(kept) { Response(.ok) }
        }
      }
      try await withServer(router: Router(routes: routes)) { server in
        for path in ["/path", "/disk"] {
          let response = try await request("GET", path, port: server.port)
          #expect(response.status == 200)
        }
      }
      return kept.ended
    }
    // The threads end after the server.
    try await serve(Kept()).value
  }

  @Test("other requests wait for what a handler does, unless it may wait for a disk", arguments: [false, true])
  func criticalSection(waitsForDisk: Bool) async throws {
    let route = Route("GET", "/path", diskProblem: waitsForDisk ? Self.diskProblem : nil, admission: Route.open) { _ in
      let isEnteredAtOnce = CriticalSection.isEntered
      await Task.yield()
      return Response(isEnteredAtOnce && CriticalSection.isEntered ? .ok : .noContent)
    }
    try await withServer(router: Router(routes: [route])) { server in
      let response = try await request("GET", "/path", port: server.port)
      #expect(response.status == (waitsForDisk ? 204 : 200))
    }
  }
}
