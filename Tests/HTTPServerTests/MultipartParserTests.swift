import Testing

@testable import HTTPServer

struct MultipartParserTests {
  /// A parsed part, with its bytes joined.
  struct Part: Hashable {
    let header: PartHeader
    var bytes: [UInt8] = []
    var isComplete = false
  }

  static let limits = MultipartLimits(parts: 4, headerBytes: 200, partBytes: 1000)

  static func parse(_ chunks: [[UInt8]], boundary: String = "b", limits: MultipartLimits = limits) throws -> [Part] {
    var parser = try MultipartParser(boundary: boundary, limits: limits)
    var parts: [Part] = []
    for chunk in chunks {
      parser.feed(chunk)
      while let event = try parser.next() {
        switch event {
        case .part(let header): parts.append(Part(header: header))
        case .bytes(let bytes): parts[parts.count - 1].bytes += bytes
        case .endOfPart: parts[parts.count - 1].isComplete = true
        }
      }
    }
    try parser.finish()
    return parts
  }

  static func parse(_ text: String) throws -> [Part] { try parse([Array(text.utf8)]) }

  static let disposition = "Content-Disposition: form-data; name="

  // The content contains text like a delimiter, beginnings of delimiters and double line breaks.
  static let body =
    "preamble\r\n--b\r\n\(disposition)\"front\"; filename=\"a;b \\\"c\\\".mov\"\r\nContent-Type: video/quicktime\r\n\r\n"
    + "x\r\r\n\r\n--\r\n-b\r\n--c\r\n--\r\r\n--b\r\n\(disposition)post\r\n\r\n\r\n--b  \r\n"
    + "\(disposition)\"e\"\r\n\r\n--b--\r\nepilogue\r\n--b\r\n"

  @Test("all parts are found")
  func parts() throws {
    let parts = try Self.parse(Self.body)
    #expect(parts.map(\.header.name) == ["front", "post", "e"])
    #expect(parts[0].header.filename == "a;b \"c\".mov")
    #expect(parts[0].header.contentType == "video/quicktime")
    #expect(String(decoding: parts[0].bytes, as: UTF8.self) == "x\r\r\n\r\n--\r\n-b\r\n--c\r\n--\r")
    #expect(parts[1].bytes.isEmpty)
    #expect(parts[2].bytes.isEmpty)
    #expect(parts.map(\.isComplete) == [true, true, true])
  }

  @Test("the result does not depend on the division into two or three chunks or single bytes")
  func everySplit() throws {
    let bytes = Array(Self.body.utf8)
    let expected = try Self.parse([bytes])
    #expect(try Self.parse(bytes.map { [$0] }) == expected)
    for first in 0...bytes.count {
      // The second cut may be in the same delimiter as the first one.
      for second in [first, first + 1, first + 2, first + 4] where second <= bytes.count {
        let parts = try Self.parse([Array(bytes[..<first]), Array(bytes[first..<second]), Array(bytes[second...])])
        if parts != expected { Issue.record("cut at \(first) and \(second)") }
      }
    }
  }

  @Test("a body that is truncated before its closing boundary is refused")
  func everyTruncation() throws {
    let bytes = Array(Self.body.utf8)
    let end = try #require(bytes.firstRange(of: Array("--b--".utf8))).upperBound
    for count in 0..<end {
      #expect(throws: MultipartError.endedEarly) { try Self.parse([Array(bytes[..<count])]) }
    }
    #expect(try Self.parse([Array(bytes[..<end])]).count == 3)
  }

  @Test("the limits are enforced")
  func enforcesLimits() {
    let two = "--b\r\n\(Self.disposition)a\r\n\r\n12345\r\n--b\r\n\(Self.disposition)a\r\n\r\n\r\n--b--"
    func parse(_ limits: MultipartLimits) throws -> [Part] { try Self.parse([Array(two.utf8)], limits: limits) }
    #expect(throws: Never.self) { try parse(.init(parts: 2, headerBytes: 50, partBytes: 5)) }
    #expect(throws: MultipartError.tooManyParts(limit: 1)) { try parse(.init(parts: 1, partBytes: 5)) }
    #expect(throws: MultipartError.partTooLarge(name: "a", limit: 4)) { try parse(.init(parts: 2, partBytes: 4)) }
    #expect(throws: MultipartError.headersTooLong(limit: 10)) {
      try parse(.init(parts: 2, headerBytes: 10, partBytes: 5))
    }
    #expect(throws: MultipartError.headersTooLong(limit: 10)) {
      try Self.parse(
        [Array("--b\r\n".utf8), [UInt8](repeating: 0x61, count: 11)],
        limits: .init(parts: 2, headerBytes: 10, partBytes: 5))
    }
  }

  @Test(
    "the limits do not depend on where the body is divided",
    arguments: [
      // A header section of exactly the limit, which a CR at the end of a chunk does not exceed.
      ("--b\r\n\(disposition)a\r\n\r\n1\r\n--b--", true),
      // Blanks behind a boundary, as many as the limit and one more.
      ("--b\(String(repeating: " ", count: 38))\r\n\(disposition)a\r\n\r\n\r\n--b--", true),
      ("--b\(String(repeating: " ", count: 39))\r\n\(disposition)a\r\n\r\n\r\n--b--", false),
      // After the closing boundary, anything.
      ("--b\r\n\(disposition)a\r\n\r\n\r\n--b--\(String(repeating: "x", count: 60))", true),
      ("--b\r\n\(disposition)a\r\n\r\n\r\n--b--x\n", true),
    ])
  func divided(text: String, isValid: Bool) {
    let bytes = Array(text.utf8)
    let limits = MultipartLimits(parts: 2, headerBytes: Self.disposition.utf8.count + 1, partBytes: 5)
    #expect(limits.headerBytes == 38)
    for cut in 0...bytes.count {
      let parts = try? Self.parse([Array(bytes[..<cut]), Array(bytes[cut...])], limits: limits)
      #expect((parts != nil) == isValid, "cut at \(cut)")
    }
  }

  @Test(
    "an invalid body is refused with its error",
    arguments: [
      ("--b\r\nno colon\r\n\r\n\r\n--b--", MultipartError.badHeader),
      ("--b\r\nA b: c\r\n\r\n\r\n--b--", .badHeader),
      ("--b\r\nA: c\n\r\n\r\n--b--", .badHeader),
      ("--b\r\nContent-Type: x\r\n\r\n\r\n--b--", .unnamedPart),
      ("--b\r\nContent-Disposition: attachment; name=a\r\n\r\n\r\n--b--", .unnamedPart),
      ("--b\r\nContent-Disposition: form-data; name=\"\"\r\n\r\n\r\n--b--", .unnamedPart),
      ("--b\r\nContent-Disposition: form-data; name=\"a\r\n\r\n\r\n--b--", .unnamedPart),
      ("--b\r\n\(disposition)a; name=b\r\n\r\n\r\n--b--", .unnamedPart),
      ("--b\r\n\(disposition)a\r\nContent-Transfer-Encoding: base64\r\n\r\n\r\n--b--", .encodedPart(name: "a")),
      ("--bx\r\n\r\n", .badDelimiter),
      ("--b\n", .badDelimiter),
      ("", .endedEarly),
      ("no boundary at all", .endedEarly),
    ])
  func invalidBody(text: String, error: MultipartError) {
    #expect(throws: error) { try Self.parse(text) }
  }

  @Test(
    "the boundary is taken from the Content-Type",
    arguments: [
      ("multipart/form-data; boundary=abc", "abc"), ("Multipart/Form-Data;boundary=\"a b\"; charset=utf-8", "a b"),
    ])
  func boundary(type: String, boundary: String) throws {
    var parser = try MultipartParser(contentType: type, limits: Self.limits)
    parser.feed(Array("--\(boundary)--".utf8))
    #expect(try parser.next() == nil)
    try parser.finish()
  }

  @Test(
    "other Content-Types are refused",
    arguments: [
      (nil, MultipartError.notMultipart(contentType: nil)),
      ("application/json", .notMultipart(contentType: "application/json")),
      ("multipart/form-data", .badBoundary),
      ("multipart/form-data; boundary=", .badBoundary),
      ("multipart/form-data; boundary=\"a \"", .badBoundary),
      ("multipart/form-data; boundary=" + String(repeating: "a", count: 71), .badBoundary),
    ])
  func otherContentTypes(type: String?, error: MultipartError) {
    #expect(throws: error) { try MultipartParser(contentType: type, limits: Self.limits) }
  }
}
