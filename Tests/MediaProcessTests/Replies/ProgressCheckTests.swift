import Model
import Platform
import Testing

@testable import MediaProcess

@Suite("Progress that a child reports")
struct ProgressCheckTests {
  @Test("a rising fraction passes")
  func rising() throws {
    var check = ProgressCheck()
    let fractions = [0, 0.2, 0.4, 0.99, 1]
    for (index, fraction) in fractions.enumerated() {
      #expect(try check.accept(fraction, after: .milliseconds(200 * index)) == fraction)
    }
  }

  @Test(
    "a fraction that is not above the one before it or not in 0 to 1 is ignored",
    arguments: [0.5, 0.4, 0, -0.0, -1, -1e30, 1.0.nextUp, 1e30, .infinity, -.infinity, .nan])
  func ignored(fraction: Double) throws {
    var check = ProgressCheck()
    #expect(try check.accept(0.5, after: .zero) == 0.5)
    #expect(try check.accept(fraction, after: .zero) == nil)
    #expect(try check.accept(0.6, after: .zero) == 0.6)
  }

  @Test("five messages a second pass, also if they arrive at once at the end")
  func pace() throws {
    var check = ProgressCheck()
    for number in 0...500 { _ = try check.accept(Double(number) / 500, after: .seconds(100)) }
  }

  @Test("more messages than that violate the protocol, and none of them is reported")
  func flood() throws {
    var check = ProgressCheck()
    for number in 0..<20 { _ = try check.accept(Double(number) / 1000, after: .seconds(1)) }
    let failure = #expect(throws: MediaFailure.self) { _ = try check.accept(0.9, after: .seconds(1)) }
    #expect(failure?.kind == .protocolViolation)
    #expect(failure?.detail.contains("refused: progress ") == true)
  }
}

@Suite("Failures that a child reports")
struct ReportedFailureTests {
  @Test("the text is cleaned, and an end of the child is found by its parent only")
  func reported() {
    let limits = MediaCrash.Limits(memory: 1, cpuSeconds: 1, fileSize: 1, deadlineSeconds: 1)
    func reported(_ failure: MediaFailure) -> MediaFailure { failure.reported(by: .run, limits, []) }
    let failure = reported(MediaFailure(.internal, "a\0b\u{1B}[31m" + String(repeating: "x", count: 100_000)))
    #expect(failure.kind == .internal)
    #expect(failure.detail.hasPrefix("a\u{FFFD}b\u{FFFD}[31mxx"))
    #expect(failure.detail.unicodeScalars.count == String.maxReplyScalars)
    for kind in [MediaFailure.Kind.crashed, .deadlineExceeded, .interrupted, .cancelled] {
      let failure = reported(MediaFailure(kind, "it is so"))
      #expect(failure.kind == .protocolViolation && failure.detail.contains("refused: failure.kind "))
      #expect(failure.refusalCode == nil)
    }
    let crash = MediaCrash(stage: .run, signal: "SIGSEGV", limits: limits)
    #expect(reported(MediaFailure(.internal, "", crash: crash)).crash == nil)
    #expect(reported(MediaFailure(.memoryLimitExceeded, "")).crash?.signal == nil)
  }

  @Test("an outage that the parent does not see is not believed")
  func outages() throws {
    let limits = MediaCrash.Limits(memory: 1, cpuSeconds: 1, fileSize: 1, deadlineSeconds: 1)
    let output = OpenFile(try Descriptor(unnamedIn: "/tmp"))
    #expect(MediaFailure(.outOfSpace, "").reported(by: .run, limits, [output]).kind == .internal)
    #expect(MediaFailure(.unavailable, "").reported(by: .run, limits, [output]).kind == .internal)
  }
}

@Suite("Hostile messages")
struct HostileMessageTests {
  /// A message that is as long as a socket accepts.
  private static func envelope(_ message: [UInt8]) -> [UInt8] {
    Array(#"{"version":\#(Envelope<MediaReply>.currentVersion),"message":"#.utf8) + message + Array("}".utf8)
  }

  static let messages: [[UInt8]] = [
    [UInt8](repeating: UInt8(ascii: "["), count: 160_000),
    [UInt8](repeating: UInt8(ascii: "["), count: 80_000) + [UInt8](repeating: UInt8(ascii: "]"), count: 80_000),
    Array(String(repeating: #"{"a":"#, count: 30_000).utf8),
    Array(#"{"progress":{"_0":1e999}}"#.utf8), Array(#"{"progress":{"_0":NaN}}"#.utf8),
    Array(#"{"progress":{"_0":"#.utf8) + [UInt8](repeating: UInt8(ascii: "9"), count: 150_000) + Array("}}".utf8),
    Array(#"{"probed":{"_0":{"facts":{},"reasons":[{"code":""#.utf8) + [0xFF, 0xFE] + Array(#""}]}}}"#.utf8),
    Array(#"{"failure":{"_0":{"kind":"internal","detail":"\ud800"}}}"#.utf8),
    Array("{\"failure\":{\"_0\":{\"kind\":\"\\u0000".utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: 100_000)
      + Array(#"","detail":""}}}"#.utf8),
    Array(#"{"result":{"_0":{}}}"#.utf8), Array(#"{"versions":{"_0":[]}}"#.utf8), [],
  ]

  @Test(
    "a message that is nested deeply, malformed or of another type violates the protocol", arguments: messages.indices)
  func malformed(index: Int) {
    let failure = #expect(throws: MediaFailure.self) {
      _ = try Envelope<MediaReply>.decode(Self.envelope(Self.messages[index]))
    }
    #expect(failure?.kind == .protocolViolation)
    let detail = failure?.detail.unicodeScalars
    #expect((detail?.count ?? 0) <= String.maxReplyScalars && detail?.contains("\0") == false)
  }

  @Test("of two equal keys, one counts")
  func duplicateKeys() throws {
    let message = Self.envelope(Array(#"{"progress":{"_0":0.25,"_0":0.5}}"#.utf8))
    let reply = try Envelope<MediaReply>.decode(message)
    #expect(reply == .progress(0.25) || reply == .progress(0.5))
  }
}
