import HTTPServer
import Testing

struct ProblemTests {
  @Test func writesTheMembersOfRFC9457AndItsOwn() throws {
    let problem = Problem(
      .unprocessableContent, type: "/problems/x", title: "T", detail: "a \"quoted\"\n\u{1} é", remedy: "do",
      members: [
        .init(name: "errors", value: .list([.object([.init(name: "field", value: .string("front"))]), .integer(-3)]))
      ])
    guard case .bytes(let bytes) = problem.response.body else {
      Issue.record("a problem is text")
      return
    }
    #expect(
      String(decoding: bytes, as: UTF8.self)
        == #"{"type":"/problems/x","title":"T","status":422,"detail":"a \"quoted\"\u000a\u0001 é","remedy":"do","#
        + #""errors":[{"field":"front"},-3]}"# + "\n")
    #expect(problem.response.headers["content-type"] == "application/problem+json")
  }
}
