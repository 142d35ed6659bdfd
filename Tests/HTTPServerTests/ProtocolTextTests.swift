import Platform
import Testing

@testable import HTTPServer

/// Tests of text of the protocol that has combining characters beside its delimiters: U+0600 belongs to the Character that follows, and
/// U+0301 to the one before.
struct ProtocolTextTests {
  @Test("a long list of preferences counts as absent, unless the caller reads it whatever its length")
  func preferences() {
    let value = Array(repeating: "a", count: 600).joined(separator: ",")
    let fields = HeaderFields(dictionaryLiteral: ("Prefer", value), ("Accept", "b, c"))
    #expect(fields.list("Prefer").isEmpty && fields.list("Prefer", maxBytes: .max).count == 600)
    #expect(fields.list("accept") == ["b", "c"] && fields.bytes(of: "prefer") == 1199)
  }

  @Test(
    "a list is split at each comma",
    arguments: [
      ("a\u{600}, b", ["a\u{600}", "b"]), ("a,\u{301}b", ["a", "\u{301}b"]), ("a ,\t, b\t", ["a", "b"]),
      (" \u{301}", ["\u{301}"]),
    ])
  func list(field: String, elements: [String]) {
    let fields: HeaderFields = ["X": field]
    #expect(fields.list("x").map { Array($0.utf8) } == elements.map { Array($0.utf8) })
  }

  @Test("elements are visited from the last one, of all lines of a field, until enough are found")
  func visits() {
    let fields = HeaderFields(dictionaryLiteral: ("X", "a;; b"), ("Y", "z"), ("x", " \t; c ;d\t"), ("X", ""))
    for (limit, expected) in [(1, ["d"]), (3, ["d", "c", "b"]), (9, ["d", "c", "b", "a"])] {
      var visited: [String] = []
      fields.visitElements(of: "x", separatedBy: UInt8(ascii: ";")) {
        visited.append(String(decoding: $0, as: UTF8.self))
        return visited.count < limit
      }
      #expect(visited == expected)
    }
  }

  @Test("a name takes each character of a token, a value the tab and all but control characters")
  func characters() throws {
    let others = "!#$%&'*+-.^_`|~".utf8
    for byte in UInt8.min...UInt8.max {
      let isToken = others.contains(byte) || [0x30...0x39, 0x41...0x5A, 0x61...0x7A].contains { $0 ~= byte }
      #expect(byte.isTokenCharacter == isToken, "\(byte)")
      guard byte != 0x0A, byte != 0x0D else { continue }
      let isControl = byte < 0x20 && byte != 0x09 || byte == 0x7F
      for count in [0, 100] {
        let value = [UInt8](repeating: 0x61, count: count) + [byte, 0x62]
        let field = try? HeadParser.field((Array("x: ".utf8) + value)[...])
        #expect((field == nil) == isControl, "\(byte)")
      }
    }
  }

  @Test("an entity tag is found beside others, and compared by its bytes")
  func entityTags() {
    let composed = EntityTag(strong: "\u{E9}")
    #expect(composed.failsIfMatch(in: ["If-Match": "\"e\u{301}\""]))
    #expect(!composed.failsIfMatch(in: ["If-Match": "\"x\"\u{600},\"\u{E9}\""]))
    #expect(EntityTag("\"\u{301}x\"")?.opaque.utf8.count == 3)
    #expect(EntityTag("W/\"\u{301}x\"")?.isWeak == true)
  }

  @Test("a segment of a path is compared by its bytes")
  func path() {
    #expect(PathPattern("/caf\u{E9}").match(["caf\u{E9}"]) != nil)
    #expect(PathPattern("/caf\u{E9}").match(["cafe\u{301}"]) == nil)
  }

  private static func head(_ lines: String...) throws -> RequestHead? {
    var reader = RequestReader(limits: HeadParser.Limits())
    Array((lines + ["", ""]).joined(separator: "\r\n").utf8).withUnsafeBytes { reader.append($0) }
    guard case .head(let head) = try reader.next() else { return nil }
    return head
  }

  @Test("a byte beyond ASCII is one character of a field, which combines with no other")
  func bytes() throws {
    let marks = String(repeating: "\u{345}\u{315}\u{301}\u{316}", count: 2000)
    let fields = ["Connection", "Expect-Not", "Origin", "Prefer", "X"].map { "\($0): close\(marks)" }
    let head = try #require(
      try Self.head("GET / HTTP/1.1", "Host: x", fields[0]))
    #expect(!head.endsConnection)
    for field in fields {
      let head = try #require(try Self.head("GET / HTTP/1.1", "Host: x", field))
      for field in head.headers {
        #expect(field.value.unicodeScalars.allSatisfy { $0.properties.canonicalCombiningClass == .notReordered })
      }
      #expect(head.headers.map(\.value.unicodeScalars.count) == [1, 5 + marks.utf8.count])
    }
    let accented = try #require(try Self.head("GET / HTTP/1.1", "Host: x", "X: aé\u{10FFFF}"))
    #expect(accented.headers["X"]?.unicodeScalars.map(\.value) == [0x61, 0xC3, 0xA9, 0xF4, 0x8F, 0xBF, 0xBF])
    #expect(throws: Problem.self) { try Self.head("GET / HTTP/1.1\(marks.prefix(1000))", "Host: x") }
    #expect(throws: Problem.self) { try Self.head("GET / HTTP/1.1", "Host: x", "Expect: 100-continue\(marks)") }
    #expect(throws: Problem.self) { try Self.head("GET / HTTP/1.1", "Host: x", "Transfer-Encoding: chunked\(marks)") }
  }

  @Test("a path and a query with a run of combining marks longer than the limit are refused")
  func runs() {
    for (count, isTaken) in [(30, true), (31, false)] {
      let run = String(repeating: "%CC%81", count: count)
      for target in ["/v1/users/a\(run)", "/?a\(run)=1", "/?a=1\(run)"] {
        #expect((RequestTarget(target) != nil) == isTaken, "\(count)")
      }
    }
  }

  @Test("of X-Forwarded-For only what a trusted proxy has written is read, from its end")
  func forwarded() throws {
    let list = String(repeating: "x,", count: 10_000) + "192.0.2.1, 10.0.0.2"
    let fields: HeaderFields = ["X-Forwarded-For": list]
    let (peer, proxy) = try (#require(IPAddress("10.0.0.1")), #require(IPAddress("10.0.0.2")))
    var asked = 0
    #expect(
      try fields.client(from: peer) { _ in
        asked += 1
        return false
      } == peer)
    #expect(asked <= 2)
    asked = 0
    let client = try fields.client(from: peer) { address in
      asked += 1
      return address == peer || address == proxy
    }
    #expect(client == IPAddress("192.0.2.1") && asked <= 4)
  }

  @Test("elements of a list are found in any case, and beside others")
  func elements() {
    for (field, expected) in [
      ("close", (true, false)), ("Keep-Alive, CLOSE", (true, true)), ("closed", (false, true)), ("", (false, false)),
      (" , ,", (false, false)), ("a,\tclose ,b", (true, true)),
    ] {
      #expect(
        HeaderFields(dictionaryLiteral: ("Connection", field)).elements(of: "connection", equalTo: "close") == expected)
    }
  }

  @Test("a length beyond what a client can send counts as the largest one, so that sums of lengths do not overflow")
  func lengths() throws {
    var reader = RequestReader(limits: HeadParser.Limits())
    let text = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: \(Int64.max)\r\n\r\n"
    Array(text.utf8).withUnsafeBytes { reader.append($0) }
    guard case .head(let head) = try reader.next() else {
      Issue.record("no head")
      return
    }
    #expect(head.contentLength == RequestHead.maxBodyBytes)
    #expect(!RequestHead.maxBodyBytes.multipliedReportingOverflow(by: 4).overflow)
  }
}
