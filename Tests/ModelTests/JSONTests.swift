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

  @Test("times are read with and without fractions, and written with milliseconds")
  func times() throws {
    let date = try #require(JSON.date(from: "2026-11-20T10:20:30Z"))
    #expect(JSON.text(of: date) == "2026-11-20T10:20:30.000Z")
    #expect(JSON.date(from: "2026-11-20T11:20:30.5+01:00") == date.addingTimeInterval(0.5))
    #expect(JSON.date(from: "yesterday") == nil)
  }
}
