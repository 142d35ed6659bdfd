import Glibc
import HTTPServer
import HTTPTesting
import Platform
import Testing
import WaitTesting

@Suite("The threads that one client can occupy", .tags(.network), .timeLimit(.minutes(60)))
struct ThreadShareTests {
  @Test("connections with thousands of requests that need no handler take turns")
  func pipelinesTakeTurns() async throws {
    let order = AdmissionOrder()
    let gates = ["a": OneShot<Void>(), "b": OneShot<Void>()]
    let router = Router(
      routes: [
        Route("GET", "/gate", admission: ConnectionShares.known) { request in
          await gates[request.headers["X"] ?? ""]?.value
          return Response(.ok)
        }
      ],
      fallbackAdmission: { (head, _) throws(Problem) in
        if let name = head.headers["X"] { order.add(name) }
        return .known(ConnectionShares.Named(head))
      })
    try await withClient(ConnectionShares.configuration, router: router) { port in
      let clients = try ["a", "b"].map { name in
        let client = try SharingClient(port)
        let next = String(repeating: "GET /nothing HTTP/1.1\r\nHost: x\r\nX: \(name)\r\n\r\n", count: 2000)
        try client.connection.send("GET /gate HTTP/1.1\r\nHost: x\r\nX: \(name)\r\n\r\n" + next)
        return client
      }
      for gate in gates.values { gate.fulfil(()) }
      for client in clients {
        #expect(try client.status() == 200)
        for _ in 0..<2000 { #expect(try client.status() == 404) }
      }
    }
    let heads = order.names
    #expect(heads.count == 4000)
    // Neither has had all of its turns before the other one began.
    let first = heads.first
    #expect((heads.firstIndex { $0 != first } ?? .max) < 1000)
  }

  @Test("heads on many connections of an address take turns with other addresses' heads")
  func turns() async throws {
    let (isHeld, isReleased) = (CancellationFlag(), CancellationFlag())
    let order = Locked<[String]>([])
    // It runs on the network thread, which the first request holds until all others have been sent.
    let admission: Route.Admission = { (head, _) throws(Problem) in
      let name = head.headers["Authorization"] ?? ""
      order.withLock { $0.append(name) }
      if name == "first" {
        isHeld.cancel()
        let deadline = Deadline("the other requests have been sent")
        while !isReleased.isCancelled, (try? deadline.check()) != nil { sched_yield() }
      }
      return .known(ConnectionShares.Named(head))
    }
    try await withClient(ConnectionShares.configuration, router: ConnectionShares.router(admission)) { port in
      func connected(from address: String) throws -> SharingClient {
        let client = try SharingClient("/hello", port, from: address, as: "before")
        #expect(try client.status() == 200)
        return client
      }
      let first = try connected(from: "127.0.0.2")
      let many = try (0..<60).map { _ in try connected(from: "127.0.0.2") }
      let other = try connected(from: "127.0.0.3")
      try first.send("/hello", as: "first")
      let deadline = Deadline("the network thread is held")
      while !isHeld.isCancelled {
        try deadline.check()
        sched_yield()
      }
      for client in many { try client.send("/hello", as: "many") }
      try other.send("/hello", as: "other")
      isReleased.cancel()
      for client in [first, other] + many { #expect(try client.status() == 200) }
    }
    let served = order.withLock { $0.drop { $0 != "first" } }
    #expect(served.count == 62)
    let before = try #require(served.firstIndex(of: "other")) - served.startIndex
    #expect(before <= 20, "\(before) of 61 were served before the other")
  }

  @Test(
    "a route that answers at once needs no thread of handlers, and the handlers of one client leave one to others",
    arguments: ["user ada", "key 7", nil], [false, true])
  func threads(name: String?, waitsForDisk: Bool) async throws {
    let isReleased = try Event()
    let (starts, start) = AsyncStream.makeStream(of: Void.self)
    let diskProblem =
      waitsForDisk ? Problem(.serviceUnavailable, type: "urn:x", title: "X", detail: "The disk hangs.") : nil
    let router = Router(routes: [
      Route("GET", "/block", diskProblem: diskProblem, admission: ConnectionShares.known) { _ in
        start.yield()
        isReleased.wait()
        return Response(.ok)
      },
      Route("GET", "/hello", diskProblem: diskProblem, admission: ConnectionShares.known) { _ in Response(.ok) },
      Route("/live", admission: Route.open) { _ in Response(.ok) },
    ])
    var configuration = ServerConfiguration()
    (configuration.handlerThreads, configuration.diskThreads, configuration.diskTime) = (2, 2, .seconds(900))
    try await withServer(configuration, router: router) { server in
      // Also if the test fails before: the server waits for its handlers.
      defer { isReleased.signal() }
      let port = server.port
      func send(_ path: String, as name: String?) async throws -> SharingClient {
        try await onThread("client") { try SharingClient(path, port, as: name) }
      }
      func isAnswered(_ path: String, as name: String?) async throws -> Bool {
        try await onThread("client") { try SharingClient(path, port, as: name).isReadable(within: 10_000) }
      }
      var started = starts.makeAsyncIterator()
      var blocked: [SharingClient] = []
      for _ in 0..<6 { blocked.append(try await send("/block", as: name)) }
      for _ in 0..<2 { _ = await started.next() }
      for other in ["user bob", "key 8"] { #expect(try await isAnswered("/hello", as: other)) }
      // Now others hold the last thread too.
      blocked.append(try await send("/block", as: "user bob"))
      _ = await started.next()
      #expect(try await isAnswered("/live", as: nil))
      isReleased.signal()
      for client in blocked { #expect(try await onThread("client") { try client.status() } == 200) }
    }
  }
}
