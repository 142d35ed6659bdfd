import FoundationEssentials
import Model
import Testing

@Suite("JSON")
struct JSONTests {
  @Test("verdicts have the documented keys")
  func verdict() throws {
    let verdict = Verdict(
      reasons: [Reason(.emptyFile, input: .front, detail: "it has no bytes")], inputs: [:], decisions: [])
    let text = try JSON.text(verdict)
    #expect(
      text
        == #"{"decisions":[],"inputs":{},"reasons":[{"code":"empty_file","detail":"it has no bytes","input":"front"}],"#
        + #""verdict":"rejected","warnings":[]}"#)
  }

  @Test(
    "a decoding error has the path as it appears in the JSON",
    arguments: [
      (#"{}"#, "moments is missing"),
      (#"{"moments": [{"long_edge": 1}, {}]}"#, "moments[1].long_edge is missing"),
      (#"{"moments": [{"long_edge": null}]}"#, "moments[0].long_edge is null"),
      (#"{"moments": [{"long_edge": "1"}]}"#, "moments[0].long_edge: "),
    ])
  func reasons(text: String, reason: String) throws {
    struct Moment: Decodable { let longEdge: Int }
    struct Value: Decodable { let moments: [Moment] }
    do {
      _ = try JSON.decode(Value.self, from: Array(text.utf8))
      Issue.record("decoded")
    } catch {
      #expect(JSON.reason(error).hasPrefix(reason))
    }
  }

  @Test("syntax errors and other errors have their own message")
  func otherReasons() throws {
    struct Other: Error, CustomStringConvertible { let description = "another error" }
    #expect(JSON.reason(Other()) == "another error")
    do {
      _ = try JSON.decode([Int].self, from: Array("[1".utf8))
      Issue.record("decoded")
    } catch {
      let reason = JSON.reason(error)
      #expect(!reason.isEmpty && !reason.contains("DecodingError"))
    }
  }

  @Test("times are parsed with and without fractions, and written with milliseconds")
  func times() throws {
    let date = try #require(JSON.date(from: "2026-11-20T10:20:30Z"))
    #expect(JSON.text(of: date) == "2026-11-20T10:20:30.000Z")
    #expect(JSON.date(from: "2026-11-20T11:20:30.5+01:00") == date.addingTimeInterval(0.5))
    #expect(JSON.date(from: "yesterday") == nil)
  }

  @Test(
    "NUL in a string is replaced with U+FFFD",
    arguments: [
      ("a\0b", #""a\ufffdb""#), ("\0\0", #""\ufffd\ufffd""#), (#"\u0000"#, #""\\u0000""#), ("\\\0", #""\\\ufffd""#),
      ("plain", #""plain""#),
    ])
  func withoutNUL(text: String, json: String) throws { #expect(try JSON.text(text) == json) }
}
