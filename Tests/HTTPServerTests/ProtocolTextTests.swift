import Testing

@testable import HTTPServer

/// Tests of text of the protocol that has combining characters beside its delimiters: U+0600 belongs to the Character that follows, and
/// U+0301 to the one before.
struct ProtocolTextTests {
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
