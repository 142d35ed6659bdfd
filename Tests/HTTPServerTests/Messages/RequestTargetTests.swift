import Testing

@testable import HTTPServer

struct RequestTargetTests {
  @Test func decodesSegmentsAndQueryApart() throws {
    let target = try #require(RequestTarget("/v1/a%2Fb/c+d?name=J%C3%B6rg+X&flag&e=1%3D2"))
    #expect(target.segments == ["v1", "a/b", "c+d"])
    #expect(target.path == "/v1/a%2Fb/c+d")
    #expect(target.queryValue("name") == "Jörg X")
    #expect(target.queryValue("flag") == "")
    #expect(target.queryValue("e") == "1=2")
    #expect(target.queryValue("other") == nil)
  }

  @Test(arguments: [
    ("http://host:80/a?b=c", ["a"]), ("http://host", [""]), ("https://host?x=1", [""]), ("/a/", ["a", ""]),
  ])
  func readsAbsoluteAndOriginForms(text: String, segments: [String]) throws {
    #expect(RequestTarget(text)?.segments == segments)
  }

  @Test(arguments: ["", "*", "a", "/%", "/%4", "/%4g", "/%ff", "/a%00b", "/a b", "/?a=%f"])
  func refusesWhatIsNoPath(text: String) {
    #expect(RequestTarget(text) == nil)
  }
}
