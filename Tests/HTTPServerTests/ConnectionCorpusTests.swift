import Foundation
import HTTPTesting
import Platform
import SeededRandom
import Testing

@testable import HTTPServer

/// Tests that run hostile input, and events in any order, through the state machine of a connection, without a socket.
struct ConnectionCorpusTests {
  private typealias Walk = ConnectionWalk

  private static let pieces = [1, 2, 3, 7]

  /// The actions for input that arrives in pieces of this length.
  ///
  /// Where a piece ends decides how much of a body comes at once, whether some of it comes before its refusal or 100 Continue, and
  /// whether more has arrived than the last request: that is left out.
  private static func actions(_ bytes: [UInt8], piece: Int, _ handler: Walk.Handler = .reads) -> [String] {
    var walk = Walk()
    walk.handler = handler
    walk.send(bytes, piece: piece)
    var found: [String] = []
    for action in walk.actions where action != "continue" {
      let isBody = found.last?.hasPrefix("body ") == true
      if isBody, action.hasPrefix("body ") {
        found[found.count - 1] += action.dropFirst(5)
      } else {
        if isBody, action.hasPrefix("refuse ") { found.removeLast() }
        found.append(action == "end lingers" || action == "end closes" ? "end" : action)
      }
    }
    return found
  }

  @Test(
    "an ambiguous request gets one response, the last one, in whichever pieces it arrives", arguments: FramingCase.all)
  func ambiguous(framing: FramingCase) {
    let bytes = framing.bytes + Array(Walk.get.utf8)
    let whole = Self.actions(bytes, piece: .max)
    #expect(whole.suffix(4) == ["refuse \(framing.status)", "respond \(framing.status) last", "write", "end"])
    #expect(whole.count { $0.hasPrefix("respond ") } == 1)
    for piece in Self.pieces { #expect(Self.actions(bytes, piece: piece) == whole, "pieces of \(piece)") }
  }

  @Test(
    "a head that is too long is refused before its end",
    arguments: [
      (String(repeating: "a", count: 40_000) + " HTTP/1.1\r\n", 414),
      (" HTTP/1.1\r\nX: " + String(repeating: "a", count: 40_000) + "\r\n", 431),
      (" HTTP/1.1\r\n" + String(repeating: "X: a\r\n", count: 130), 431),
    ])
  func tooLong(head: String, status: Int) {
    for piece in Self.pieces + [.max] {
      let actions = Self.actions(Array(("GET /" + head + "\r\n").utf8), piece: piece)
      #expect(actions == ["refuse \(status)", "respond \(status) last", "write", "end"], "pieces of \(piece)")
    }
  }

  /// Requests that the fuzzer starts from.
  private static func seeds() throws -> [String: [UInt8]] {
    let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let folder = "\(root)/Tests/Fuzzing/seeds/request"
    var found: [String: [UInt8]] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
      found[name] = Array(try Data(contentsOf: URL(filePath: "\(folder)/\(name)")))
    }
    return found
  }

  @Test(
    "input has the same actions in whichever pieces it arrives, whatever the handler does",
    arguments: Walk.Handler.allCases)
  private func divided(handler: Walk.Handler) throws {
    let seeds = try Self.seeds()
    #expect(seeds.count >= 6)
    for (name, bytes) in seeds {
      let whole = Self.actions(bytes, piece: .max, handler)
      #expect(whole.contains { $0.hasPrefix("begin ") } || whole.first == "refuse 400", "\(name)")
      for piece in Self.pieces {
        #expect(Self.actions(bytes, piece: piece, handler) == whole, "\(name) in pieces of \(piece)")
      }
    }
  }

  // MARK: Any order

  /// All input of the corpus.
  private static func corpus() throws -> [[UInt8]] {
    let hostile = FramingCase.all.map { Array($0.bytes.prefix(2000)) }
    return try hostile + seeds().sorted { $0.key < $1.key }.map(\.value) + [
      Array(Walk.get.utf8), Array(Walk.post.utf8),
    ]
  }

  @Test("a connection that is driven in any order has a request exactly while its handler has one", arguments: 0..<20)
  func drives(seed: UInt64) throws {
    let corpus = try Self.corpus()
    var random = SplitMix64(seed: seed)
    for _ in 0..<50 {
      var walk = Walk()
      for _ in 0..<30 {
        let former = walk.actions.count
        let wasClosed = walk.machine.isClosed
        Self.drive(&walk, corpus, &random)
        #expect((walk.request != nil) == (walk.machine.exchange != nil), "\(walk.actions)")
        if wasClosed { #expect(walk.actions.count == former, "\(walk.actions)") }
      }
      #expect(walk.actions.count { $0.hasPrefix("close") || $0 == "end closes" } <= 1, "\(walk.actions)")
    }
  }

  private static func drive(_ walk: inout Walk, _ corpus: [[UInt8]], _ random: inout SplitMix64) {
    switch Int.random(in: 0..<16, using: &random) {
    case 0..<6: walk.send(corpus.randomElement(using: &random) ?? [], piece: Int.random(in: 1...4000, using: &random))
    case 6: walk.handler = Walk.Handler.allCases.randomElement(using: &random) ?? .reads
    case 7: walk.results = [.blocked, .waiting, .failed, .done].shuffled(using: &random)
    case 8: walk.respond()
    case 9: walk.run(walk.machine.turned())
    case 10: walk.wait(.seconds(Int.random(in: 0...60, using: &random)))
    case 11: walk.run(walk.machine.woken())
    case 12: if walk.machine.readiness(for: .writable) == .write { walk.run(walk.machine.next()) }
    case 13:
      if walk.machine.readiness(for: .finished) == .finish {
        walk.run(walk.machine.finished(isStreaming: Bool.random(using: &random), at: walk.now))
      }
    case 14: _ = walk.request != nil && walk.machine.authenticated()
    default: walk.run(random.next() % 4 == 0 ? walk.machine.close(isUnread: true) : walk.machine.stop())
    }
  }

  @Test(
    "events that no connection reports in this order end no process, and wake no closed connection", arguments: 0..<20)
  func anyOrder(seed: UInt64) throws {
    let corpus = try Self.corpus()
    var random = SplitMix64(seed: seed)
    for _ in 0..<50 {
      var machine = Walk().machine
      for _ in 0..<60 {
        let wasClosed = machine.isClosed
        let action = Self.event(&machine, corpus, &random)
        if wasClosed { #expect(action == nil && machine.isClosed) }
        _ = (machine.wanted, machine.unclaimedBytes, machine.isWithinRequest)
      }
    }
  }

  private static func event(
    _ machine: inout ConnectionStateMachine, _ corpus: [[UInt8]], _ random: inout SplitMix64
  ) -> ConnectionStateMachine.Action? {
    let now = Walk.start + .seconds(Int.random(in: 0...1000, using: &random))
    let isTrue = Bool.random(using: &random)
    let count = [0, 1, 100, 1 << 20, .max].randomElement(using: &random) ?? 0
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<4: return (corpus.randomElement(using: &random) ?? []).withUnsafeBytes { machine.received($0, at: now) }
    case 4: machine.begin(.refused, at: now)
    case 5: return machine.next()
    case 6: return machine.turned()
    case 7: return machine.woken()
    case 8: return machine.step(isTrue ? .proceed : .wait, at: now)
    case 9: return machine.step(.respond(Response(.ok), isEarly: isTrue), at: now)
    case 10: return machine.send(isLast: isTrue, until: now, at: now)
    case 11: return machine.sent(isTrue ? .done : .blocked, at: now)
    case 12: return machine.sent(isTrue ? .waiting : .failed, at: now)
    case 13: machine.discarded(count, at: now)
    case 14: return machine.finished(isStreaming: isTrue, at: now)
    case 15: return machine.tick(isCut: isTrue, at: now)
    case 16: return machine.foundUnread(count, at: now)
    case 17: _ = (machine.authenticated(), machine.ended(), machine.receivesRest())
    case 18: return isTrue ? machine.exceeded() : machine.reject(.tooManyConnections)
    default: return isTrue ? machine.stop() : machine.step(.close, at: now)
    }
    return nil
  }
}
