import Platform
import Testing
import WaitTesting

@testable import Telemetry

@Suite("Tracer", .timeLimit(.minutes(60)))
struct TracerTests {
  /// What a collector has received, and what the tracer says of its spans.
  private final class Collector: Sendable {
    let bodies = Locked<[[UInt8]]>([])
    let ended = Locked<(sent: Int, dropped: Int)>((0, 0))
    let isAway = Locked(false)

    func tracer(capacity: Int = 100, batch: Int = 10, ratio: Double = 1) throws -> Tracer {
      var configuration = Tracer.Configuration()
      configuration.capacity = capacity
      configuration.batch = batch
      configuration.ratio = ratio
      configuration.interval = .milliseconds(1)
      configuration.resource = ["service.name": "test"]
      return try Tracer(configuration) { body in
        if self.isAway.withLock({ $0 }) { throw SystemError(call: "connect", code: 111) }
        self.bodies.withLock { $0.append(body) }
      } onEnd: { spans, areSent in
        self.ended.withLock { if areSent { $0.sent += spans } else { $0.dropped += spans } }
      }
    }

    /// How often a text is in what was received.
    func count(_ text: String) -> Int {
      bodies.withLock { $0 }.map { $0.matches(text) }.reduce(0, +)
    }
  }

  @Test("spans are sent in batches, and none is lost when the tracer stops")
  func batches() async throws {
    let collector = Collector()
    let tracer = try collector.tracer()
    for number in 0..<25 {
      tracer.record(Span("span-\(number).", .internal, tracer.begin(in: nil), from: .now))
    }
    await tracer.stop()
    for number in 0..<25 { #expect(collector.count("span-\(number).") == 1) }
    #expect(collector.ended.withLock { $0 } == (25, 0))
    #expect(collector.bodies.withLock(\.count) >= 3)
  }

  @Test("a trace that is not sampled is not sent, wherever it began")
  func unsampled() async throws {
    let collector = Collector()
    let tracer = try collector.tracer(ratio: 0)
    let client = TraceContext("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    tracer.record(Span("began-here", .server, tracer.begin(in: nil), from: .now))
    tracer.record(Span("of-a-client", .server, tracer.begin(in: client), from: .now))
    await tracer.stop()
    #expect(collector.count("began-here") == 0 && collector.count("of-a-client") == 1)
  }

  @Test("while the collector is away spans are dropped and counted, and later ones are sent")
  func away() async throws {
    let collector = Collector()
    collector.isAway.withLock { $0 = true }
    let tracer = try collector.tracer()
    for _ in 0..<20 { tracer.record(Span("lost", .internal, tracer.begin(in: nil), from: .now)) }
    try await until { collector.ended.withLock(\.dropped) >= 20 }
    collector.isAway.withLock { $0 = false }
    tracer.record(Span("found", .internal, tracer.begin(in: nil), from: .now))
    await tracer.stop()
    #expect(collector.count("lost") == 0 && collector.count("found") == 1)
    #expect(collector.ended.withLock { $0 } == (1, 20))
  }

  @Test("what finds no room in the queue is dropped at once")
  func full() async throws {
    let collector = Collector()
    let mayGoOn = Locked(false)
    var configuration = Tracer.Configuration()
    configuration.capacity = 5
    configuration.interval = .milliseconds(1)
    let tracer = try Tracer(configuration) { body in
      // A collector that takes its time.
      let deadline = Deadline("the collector may go on")
      while !mayGoOn.withLock({ $0 }) { try deadline.check() }
      collector.bodies.withLock { $0.append(body) }
    } onEnd: { spans, areSent in
      collector.ended.withLock { if areSent { $0.sent += spans } else { $0.dropped += spans } }
    }
    for _ in 0..<100 { tracer.record(Span("span", .internal, tracer.begin(in: nil), from: .now)) }
    #expect(collector.ended.withLock(\.dropped) >= 90)
    mayGoOn.withLock { $0 = true }
    await tracer.stop()
    let ended = collector.ended.withLock { $0 }
    #expect(ended.sent + ended.dropped == 100 && ended.sent >= 5)
  }

  @Test("a span has the wire format of opentelemetry-proto")
  func encoding() throws {
    let parent = try #require(TraceContext("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"))
    let (now, child) = (ContinuousClock.now, parent.child())
    let name = String(repeating: "n", count: 200)
    let span = Span(
      name, .consumer, child, from: now - .seconds(2), to: now - .seconds(1), ["number": .integer(300), "text": "x"],
      isError: true)
    let bytes = TraceRequest(resource: ["service.name": "take5"], version: "1").bytes([span], now: (now, 5_000_000_000))
    let trace: [UInt8] = [
      0x0A, 16, 0x0A, 0xF7, 0x65, 0x19, 0x16, 0xCD, 0x43, 0xDD, 0x84, 0x48, 0xEB, 0x21, 0x1C, 0x80, 0x31, 0x9C,
    ]
    let parentID: [UInt8] = [0x22, 8, 0xB7, 0xAD, 0x6B, 0x71, 0x69, 0x20, 0x33, 0x31]
    // A length above 127 has two bytes.
    let named: [UInt8] = [0x2A, 0xC8, 0x01] + Array(name.utf8) + [0x30, 5]
    // 3,000,000,000 and 4,000,000,000 ns, in little endian.
    let times: [UInt8] = [0x39, 0x00, 0x5E, 0xD0, 0xB2, 0, 0, 0, 0, 0x41, 0x00, 0x28, 0x6B, 0xEE, 0, 0, 0, 0]
    let number: [UInt8] = [0x4A, 13, 0x0A, 6] + Array("number".utf8) + [0x12, 3, 0x18, 0xAC, 0x02]
    let text: [UInt8] = [0x4A, 11, 0x0A, 4] + Array("text".utf8) + [0x12, 3, 0x0A, 1, UInt8(ascii: "x")]
    let status: [UInt8] = [0x7A, 2, 0x18, 2]
    for part in [trace, parentID, named + times + number + text + status] {
      #expect(bytes.matches(part) == 1, "\(part)")
    }
    var length = 0
    // The fields of the request and of what it holds have the length that they say: 1 is the only field.
    #expect(bytes[0] == 0x0A)
    for (index, byte) in bytes[1...3].prefix(2).enumerated() { length |= Int(byte & 0x7F) << (7 * index) }
    #expect(length == bytes.count - 3)
  }
}

extension [UInt8] {
  fileprivate func matches(_ text: String) -> Int { matches(Array(text.utf8)) }

  /// How often bytes are in these.
  fileprivate func matches(_ part: [UInt8]) -> Int {
    guard count >= part.count else { return 0 }
    return (0...count - part.count).count { self[$0..<$0 + part.count].elementsEqual(part) }
  }
}
