import Glibc
import HTTPTesting
import Platform
import Testing
import WaitTesting

@testable import HTTPServer

/// Tests of streamed bodies with sockets.
@Suite(.tags(.network), .timeLimit(.minutes(60)))
struct BodyStreamTests {
  private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  private func configuration(heartbeat: Duration) -> ServerConfiguration {
    var configuration = ServerConfiguration()
    configuration.heartbeat = heartbeat
    return configuration
  }

  @Test("each event arrives while the stream is open, and none is lost while the connection waits")
  func sendsEventsImmediately() async throws {
    let producer = try StreamProducer()
    try await withClient(configuration(heartbeat: .seconds(3600)), router: producer.router) { port in
      let client = try StreamClient(port: port)
      let stream = try #require(producer.next())
      for number in 0..<2000 {
        let event = "data: \(number)\n\n"
        #expect(stream.write(bytes(event)))
        #expect(try client.receiveChunk() == event)
      }
    }
    #expect(producer.endCount == 1)
  }

  @Test("hundreds of streams are open at the same time")
  func manyStreams() async throws {
    let producer = try StreamProducer()
    let count = 400
    try await withClient(configuration(heartbeat: .seconds(3600)), router: producer.router) { port in
      let clients = try (0..<count).map { _ in try StreamClient(port: port) }
      // The handlers may have responded in another order: each stream sends its number.
      let streams = try clients.map { _ in try #require(producer.next()) }
      for (number, stream) in streams.enumerated() { #expect(stream.write(bytes("data: \(number)\n\n"))) }
      let received = try clients.map { try $0.receiveChunk() }
      #expect(Set(received) == Set((0..<count).map { "data: \($0)\n\n" }))
      #expect(producer.endCount == 0)
      withExtendedLifetime(clients) {}
    }
    #expect(producer.endCount == count)
  }

  @Test("several threads write to a stream")
  func severalThreads() async throws {
    let producer = try StreamProducer()
    let (threads, writes) = (4, 500)
    try await withServer(configuration(heartbeat: .seconds(3600)), router: producer.router) { server in
      let port = server.port
      let count = try await onThread("client") {
        let client = try StreamClient(port: port)
        let stream = try #require(producer.next())
        let remaining = Locked(threads)
        for _ in 0..<threads {
          let thread = try NamedThread(name: "producer") {
            for _ in 0..<writes { stream.write(bytes("data: x\n\n")) }
            let isLast = remaining.withLock { remaining in
              remaining -= 1
              return remaining == 0
            }
            if isLast { stream.finish() }
          }
          thread.detach()
        }
        var count = 0
        let deadline = Deadline("the last chunk")
        while let chunk = try client.receiveChunk() {
          try deadline.check()
          count += chunk.utf8.count
        }
        return count
      }
      #expect(count == threads * writes * 9)
    }
  }

  @Test("the connection of a finished stream carries another request")
  func finishes() async throws {
    let producer = try StreamProducer()
    let (records, continuation) = AsyncStream.makeStream(of: AccessRecord.self)
    let observer = ServerObserver(onAccess: { continuation.yield($0) })
    try await withServer(configuration(heartbeat: .seconds(3600)), router: producer.router, observer: observer) {
      server in
      let port = server.port
      try await onThread("client") {
        let client = try StreamClient(port: port)
        let stream = try #require(producer.next())
        stream.write(bytes("data: last\n\n"))
        stream.finish()
        #expect(!stream.write(bytes("data: later\n\n")))
        #expect(try client.receiveChunk() == "data: last\n\n")
        #expect(try client.receiveChunk() == nil)
        #expect(producer.waitForEnds(1))
        #expect(try client.isUsable())
      }
    }
    continuation.finish()
    let all = await records.reduce(into: []) { $0.append($1) }
    #expect(all.map(\.path) == ["/events", "/hello"])
    #expect(all.first?.bytes == 12)
    #expect(all.first?.isComplete == true)
    #expect(producer.endCount == 1)
  }

  @Test("the response to HEAD has no body and no length")
  func head() async throws {
    let producer = try StreamProducer()
    try await withClient(configuration(heartbeat: .seconds(3600)), router: producer.router) { port in
      let client = try StreamClient(port: port, method: "HEAD")
      let stream = try #require(producer.next())
      #expect(producer.waitForEnds(1))
      #expect(!stream.write(bytes("data: x\n\n")))
      // The length of the body of GET is unknown, and no byte of it is sent.
      #expect(client.response.headers["content-length"] == nil)
      #expect(client.response.headers["content-type"] == "text/event-stream")
      #expect(try client.isUsable())
    }
    #expect(producer.endCount == 1)
  }

  @Test("a client of HTTP/1.0 receives the bytes without chunks")
  func http10() async throws {
    let producer = try StreamProducer()
    try await withClient(configuration(heartbeat: .seconds(3600)), router: producer.router) { port in
      let client = try StreamClient(port: port, version: "HTTP/1.0")
      let stream = try #require(producer.next())
      stream.write(bytes("data: x\n\n"))
      stream.finish()
      #expect(client.connection.receiveRest() == bytes("data: x\n\n"))
    }
    #expect(producer.endCount == 1)
  }

  @Test("a stream ends when its client resets or closes the connection", arguments: [true, false])
  func disconnect(byReset: Bool) async throws {
    let producer = try StreamProducer()
    try await withClient(configuration(heartbeat: .milliseconds(20)), router: producer.router) { port in
      var connection = try ClientConnection(port: port)
      try connection.send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
      _ = try connection.receiveHead()
      #expect(try connection.receiveChunk() == bytes(":\n\n"))
      if byReset { connection.reset() } else { _ = consume connection }
      #expect(producer.waitForEnds(1))
      #expect(try #require(producer.next()).write(bytes("data: x\n\n")) == false)
    }
    #expect(producer.endCount == 1)
  }

  @Test("a stream ends immediately if its client disconnected before the response")
  func earlyDisconnect() async throws {
    let producer = try StreamProducer()
    try await withClient(configuration(heartbeat: .seconds(3600)), router: producer.router) { port in
      var connection = try ClientConnection(port: port)
      try connection.send(
        "POST /late HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n")
      // The handler is reading.
      _ = try connection.receiveHead()
      connection.reset()
      #expect(producer.waitForEnds(1))
    }
    #expect(producer.endCount == 1)
  }

  @Test("a client that does not read is disconnected, independent of the idle timeout")
  func clientThatDoesNotRead() async throws {
    let producer = try StreamProducer()
    var configuration = ServerConfiguration()
    configuration.idleTimeout = .seconds(3600)
    try await withClient(configuration, router: producer.router) { port in
      let client = try StreamClient(port: port)
      let stream = try #require(producer.next())
      let event = [UInt8](repeating: 0x20, count: 64 << 10)
      var written: Int64 = 0
      let deadline = Deadline("a full backlog")
      while stream.write(event) {
        try deadline.check()
        written += Int64(event.count)
        // The kernel buffers some megabytes for two sockets, but not as many as this.
        try #require(written < 512 << 20)
        // The network thread gets time to send, so that the client is the cause of the backlog.
        for _ in 0..<20_000 where stream.sentBytes < written { sched_yield() }
      }
      #expect(producer.waitForEnds(1))
      // The client can read what the kernel has buffered, without the end of the body.
      #expect(!client.connection.receiveRest().suffix(5).elementsEqual(bytes("0\r\n\r\n")))
    }
    #expect(producer.endCount == 1)
  }

  @Test("a stream outlasts the timeouts of heads and requests")
  func outlastsTimeouts() async throws {
    let producer = try StreamProducer()
    var configuration = configuration(heartbeat: .milliseconds(100))
    configuration.headTimeout = .seconds(2)
    configuration.requestTimeout = .seconds(2)
    try await withClient(configuration, router: producer.router) { port in
      let client = try StreamClient(port: port)
      for _ in 0..<30 { #expect(try client.receiveChunk() == ":\n\n") }
      #expect(try #require(producer.next()).write(bytes("data: x\n\n")))
      // A heartbeat may precede it.
      let deadline = Deadline("the data")
      while let chunk = try client.receiveChunk(), !chunk.contains("data: x") { try deadline.check() }
      #expect(producer.endCount == 0)
    }
  }

  @Test("the body of a stream is complete at the end of its lifetime")
  func lifetime() async throws {
    let producer = try StreamProducer(lifetime: .milliseconds(50))
    try await withClient(configuration(heartbeat: .seconds(3600)), router: producer.router) { port in
      let client = try StreamClient(port: port)
      #expect(try client.receiveChunk() == nil)
      #expect(try client.isUsable())
    }
    #expect(producer.endCount == 1)
  }

  @Test("a server that is stopped or cancelled ends open streams", arguments: [true, false])
  func stopsWithOpenStreams(byCancelling: Bool) async throws {
    let producer = try StreamProducer()
    let count = 50
    let server = try Server(configuration: configuration(heartbeat: .seconds(3600)), router: producer.router)
    let running = Task { await server.run() }
    let port = server.port
    let (open, continuation) = AsyncStream.makeStream(of: Never.self)
    async let ends = onThread("client") {
      defer { continuation.finish() }
      let clients = try (0..<count).map { _ in try StreamClient(port: port) }
      continuation.finish()
      return try clients.map { try $0.receiveChunk() }
    }
    for await _ in open {}
    // If the streams did not end, this would take an hour.
    if byCancelling { running.cancel() } else { await server.stop(within: .seconds(3600)) }
    await running.value
    #expect(try await ends == [String?](repeating: nil, count: count))
    #expect(producer.endCount == count)
    #expect(producer.next()?.write([1]) == false)
    await #expect(throws: ClientConnection.Failure.self) {
      try await onThread("client") { _ = try StreamClient(port: port) }
    }
  }

  @Test("a stream that starts while the server stops ends", arguments: 1...20)
  func stopsWhileStreamsStart(round: Int) async throws {
    let producer = try StreamProducer()
    let server = try Server(configuration: configuration(heartbeat: .seconds(3600)), router: producer.router)
    let running = Task { await server.run() }
    let port = server.port
    let (open, continuation) = AsyncStream.makeStream(of: Never.self)
    async let count = onThread("client") {
      defer { continuation.finish() }
      var clients: [StreamClient] = []
      while let client = try? StreamClient(port: port), client.response.status == 200 {
        clients.append(client)
        if clients.count == round { continuation.finish() }
      }
      return clients.count
    }
    for await _ in open {}
    running.cancel()
    await running.value
    // Each stream ends, even if its client did not receive the response.
    #expect(try await count <= producer.endCount)
    while let stream = producer.next() { #expect(!stream.write([1])) }
  }
}
