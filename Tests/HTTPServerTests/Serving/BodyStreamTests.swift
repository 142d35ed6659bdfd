import Glibc
import HTTPTesting
import Platform
import Testing

@testable import HTTPServer

/// Bodies that are produced over time, over real sockets.
@Suite(.tags(.network), .timeLimit(.minutes(10)))
struct BodyStreamTests {
  private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  private func configuration(heartbeat: Duration) -> ServerConfiguration {
    var configuration = ServerConfiguration()
    configuration.heartbeat = heartbeat
    return configuration
  }

  @Test("Each event arrives while the stream is open, and none is lost between two suspensions")
  func sendsEventsAtOnce() async throws {
    let producer = try StreamProducer()
    try await withServer(configuration(heartbeat: .seconds(3600)), router: producer.router) { server in
      let port = server.port
      try await onThread("client") {
        let client = try StreamClient(port: port)
        let stream = try #require(producer.next())
        for number in 0..<2000 {
          let event = "data: \(number)\n\n"
          #expect(stream.write(bytes(event)))
          #expect(try client.receiveChunk() == event)
        }
      }
    }
    #expect(producer.endCount == 1)
  }

  @Test func keepsHundredsOfStreamsOpen() async throws {
    let producer = try StreamProducer()
    let count = 400
    try await withServer(configuration(heartbeat: .seconds(3600)), router: producer.router) { server in
      let port = server.port
      try await onThread("client") {
        let clients = try (0..<count).map { _ in try StreamClient(port: port) }
        // The handlers may have answered in another order: each stream says which it is.
        let streams = try clients.map { _ in try #require(producer.next()) }
        for (number, stream) in streams.enumerated() { #expect(stream.write(bytes("data: \(number)\n\n"))) }
        let heard = try clients.map { try $0.receiveChunk() }
        #expect(Set(heard) == Set((0..<count).map { "data: \($0)\n\n" }))
        #expect(producer.endCount == 0)
        withExtendedLifetime(clients) {}
      }
    }
    #expect(producer.endCount == count)
  }

  @Test func takesWritesOfSeveralThreads() async throws {
    let producer = try StreamProducer()
    let (threads, writes) = (4, 500)
    try await withServer(configuration(heartbeat: .seconds(3600)), router: producer.router) { server in
      let port = server.port
      let count = try await onThread("client") {
        let client = try StreamClient(port: port)
        let stream = try #require(producer.next())
        let left = Locked(threads)
        for _ in 0..<threads {
          let thread = try NamedThread(name: "producer") {
            for _ in 0..<writes { stream.write(bytes("data: x\n\n")) }
            let isLast = left.withLock { left in
              left -= 1
              return left == 0
            }
            if isLast { stream.finish() }
          }
          thread.detach()
        }
        var count = 0
        while let chunk = try client.receiveChunk() { count += chunk.utf8.count }
        return count
      }
      #expect(count == threads * writes * 9)
    }
  }

  @Test func finishingLeavesTheConnectionUsable() async throws {
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

  @Test func answersHeadWithoutABody() async throws {
    let producer = try StreamProducer()
    try await withServer(configuration(heartbeat: .seconds(3600)), router: producer.router) { server in
      let port = server.port
      try await onThread("client") {
        let client = try StreamClient(port: port, method: "HEAD")
        let stream = try #require(producer.next())
        #expect(producer.waitForEnds(1))
        #expect(!stream.write(bytes("data: x\n\n")))
        // The length of what GET would bring is unknown, and not a byte of it comes.
        #expect(client.response.headers["content-length"] == nil)
        #expect(client.response.headers["content-type"] == "text/event-stream")
        #expect(try client.isUsable())
      }
    }
    #expect(producer.endCount == 1)
  }

  @Test func sendsPlainBytesToAClientThatKnowsNoChunks() async throws {
    let producer = try StreamProducer()
    try await withServer(configuration(heartbeat: .seconds(3600)), router: producer.router) { server in
      let port = server.port
      try await onThread("client") {
        let client = try StreamClient(port: port, version: "HTTP/1.0")
        let stream = try #require(producer.next())
        stream.write(bytes("data: x\n\n"))
        stream.finish()
        #expect(client.connection.receiveRest() == bytes("data: x\n\n"))
      }
    }
    #expect(producer.endCount == 1)
  }

  @Test("A producer hears that its client is gone, by reset or in order", arguments: [true, false])
  func findsOutThatAClientLeft(byReset: Bool) async throws {
    let producer = try StreamProducer()
    try await withServer(configuration(heartbeat: .milliseconds(20)), router: producer.router) { server in
      let port = server.port
      try await onThread("client") {
        var connection = try ClientConnection(port: port)
        try connection.send("GET /events HTTP/1.1\r\nHost: x\r\n\r\n")
        _ = try connection.receiveHead()
        #expect(try connection.receiveChunk() == bytes(":\n\n"))
        if byReset { connection.reset() } else { _ = consume connection }
        #expect(producer.waitForEnds(1))
        #expect(try #require(producer.next()).write(bytes("data: x\n\n")) == false)
      }
    }
    #expect(producer.endCount == 1)
  }

  @Test func aStreamForAClientThatLeftBeforeTheAnswerEndsAtOnce() async throws {
    let producer = try StreamProducer()
    try await withServer(configuration(heartbeat: .seconds(3600)), router: producer.router) { server in
      let port = server.port
      try await onThread("client") {
        var connection = try ClientConnection(port: port)
        try connection.send(
          "POST /late HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n")
        // Now the handler is reading.
        _ = try connection.receiveHead()
        connection.reset()
        #expect(producer.waitForEnds(1))
      }
    }
    #expect(producer.endCount == 1)
  }

  @Test("A client that does not read is cut off, however patient the server is with silence")
  func cutsAClientThatDoesNotRead() async throws {
    let producer = try StreamProducer()
    var configuration = ServerConfiguration()
    configuration.inactivity = .seconds(3600)
    try await withServer(configuration, router: producer.router) { server in
      let port = server.port
      try await onThread("client") {
        let client = try StreamClient(port: port)
        let stream = try #require(producer.next())
        let event = [UInt8](repeating: 0x20, count: 64 << 10)
        var written: Int64 = 0
        while stream.write(event) {
          written += Int64(event.count)
          // A kernel keeps some megabytes for two sockets, never so many.
          try #require(written < 512 << 20)
          // The network thread is let go ahead, so that it is the client who holds things up.
          for _ in 0..<20_000 where stream.sentBytes < written { sched_yield() }
        }
        #expect(producer.waitForEnds(1))
        // What the kernel kept is still there; the end of the body is not.
        #expect(!client.connection.receiveRest().suffix(5).elementsEqual(bytes("0\r\n\r\n")))
      }
    }
    #expect(producer.endCount == 1)
  }

  @Test func outlivesTheDeadlinesOfOtherAnswers() async throws {
    let producer = try StreamProducer()
    var configuration = configuration(heartbeat: .milliseconds(100))
    configuration.headDeadline = .seconds(2)
    configuration.requestDeadline = .seconds(2)
    try await withServer(configuration, router: producer.router) { server in
      let port = server.port
      try await onThread("client") {
        let client = try StreamClient(port: port)
        for _ in 0..<30 { #expect(try client.receiveChunk() == ":\n\n") }
        #expect(try #require(producer.next()).write(bytes("data: x\n\n")))
        // Another heartbeat may have come before it.
        while let chunk = try client.receiveChunk(), !chunk.contains("data: x") {}
        #expect(producer.endCount == 0)
      }
    }
  }

  @Test func endsInOrderAtItsOwnDeadline() async throws {
    let producer = try StreamProducer(deadline: .milliseconds(50))
    try await withServer(configuration(heartbeat: .seconds(3600)), router: producer.router) { server in
      let port = server.port
      try await onThread("client") {
        let client = try StreamClient(port: port)
        #expect(try client.receiveChunk() == nil)
        #expect(try client.isUsable())
      }
    }
    #expect(producer.endCount == 1)
  }

  @Test("A server stops or is cancelled although streams are open that nobody finishes", arguments: [true, false])
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
    // Without an end of the streams it would take the whole hour.
    if byCancelling { running.cancel() } else { await server.stop(within: .seconds(3600)) }
    await running.value
    #expect(try await ends == [String?](repeating: nil, count: count))
    #expect(producer.endCount == count)
    #expect(producer.next()?.write([1]) == false)
    await #expect(throws: ClientConnection.Failure.self) {
      try await onThread("client") { _ = try StreamClient(port: port) }
    }
  }

  @Test("A stream that begins while the server stops is ended too", arguments: 1...20)
  func stopsWhileStreamsBegin(round: Int) async throws {
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
    // Each end is told, seen by a client or not.
    #expect(try await count <= producer.endCount)
    while let stream = producer.next() { #expect(!stream.write([1])) }
  }
}
