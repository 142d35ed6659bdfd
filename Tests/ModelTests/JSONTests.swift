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
    "why JSON cannot be read is told by the path as it stands there",
    arguments: [
      (#"{}"#, "moments is missing"),
      (#"{"moments": [{"longest_edge": 1}, {}]}"#, "moments[1].longest_edge is missing"),
      (#"{"moments": [{"longest_edge": null}]}"#, "moments[0].longest_edge is null"),
      (#"{"moments": [{"longest_edge": "1"}]}"#, "moments[0].longest_edge: "),
    ])
  func reasons(text: String, reason: String) throws {
    struct Moment: Decodable { let longestEdge: Int }
    struct Value: Decodable { let moments: [Moment] }
    do {
      _ = try JSON.decode(Value.self, from: Array(text.utf8))
      Issue.record("it was read")
    } catch {
      #expect(JSON.reason(error).hasPrefix(reason))
    }
  }

  @Test("what is no JSON at all, or no matter of JSON, is told in its own words")
  func otherReasons() throws {
    struct Other: Error, CustomStringConvertible { let description = "it is raining" }
    #expect(JSON.reason(Other()) == "it is raining")
    do {
      _ = try JSON.decode([Int].self, from: Array("[1".utf8))
      Issue.record("it was read")
    } catch {
      let reason = JSON.reason(error)
      #expect(!reason.isEmpty && !reason.contains("DecodingError"))
    }
  }

  @Test("times are read with and without fractions, and written with milliseconds")
  func times() throws {
    let date = try #require(JSON.date(from: "2026-11-20T10:20:30Z"))
    #expect(JSON.text(of: date) == "2026-11-20T10:20:30.000Z")
    #expect(JSON.date(from: "2026-11-20T11:20:30.5+01:00") == date.addingTimeInterval(0.5))
    #expect(JSON.date(from: "yesterday") == nil)
  }
}
