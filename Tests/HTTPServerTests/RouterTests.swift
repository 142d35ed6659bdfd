import Platform
import Testing

@testable import HTTPServer

struct RouterTests {
  private static func route(_ method: String, _ template: String) -> Route {
    Route(method, template, admission: Route.open) { _ in Response(.ok) }
  }

  private let router = Router(routes: [
    route("GET", "/v1/posts/{id}"), route("DELETE", "/v1/posts/{id}"), route("GET", "/v1/posts/latest"),
  ])

  private func match(_ method: String, _ path: String) throws(Problem) -> Router.Match {
    let head = RequestHead(
      method: method, target: RequestTarget(path)!, version: .http11, headers: [:], framing: .none)
    return try router.match(head, from: IPAddress("127.0.0.1")!)
  }

  @Test("parameters are captured, and literal segments have precedence")
  func matches() throws {
    #expect(try match("GET", "/v1/posts/a%2Fb").parameters == ["id": "a/b"])
    #expect(try match("GET", "/v1/posts/latest").route.template == "/v1/posts/latest")
    #expect(try match("HEAD", "/v1/posts/latest").route.method == "GET")
  }

  @Test(
    "unknown paths are refused with 404",
    arguments: ["/v1/posts", "/v1/posts/", "/v1/posts/a/", "/v1/posts/a/b", "/", "/V1/posts/a"])
  func unknownPath(path: String) throws {
    #expect(throws: Problem.self) { try match("GET", path) }
    do { _ = try match("GET", path) } catch { #expect(error.status == .notFound) }
  }

  @Test("the problem for an unsupported method has the supported ones")
  func allow() {
    do throws(Problem) {
      _ = try match("PUT", "/v1/posts/a")
    } catch {
      #expect(error.status == .methodNotAllowed)
      #expect(error.headers["Allow"] == "DELETE, GET, HEAD")
    }
  }

  @Test("a path belongs to its most specific pattern")
  func specificPattern() {
    do throws(Problem) {
      _ = try match("DELETE", "/v1/posts/latest")
      Issue.record("the less specific route matches")
    } catch {
      #expect(error.headers["Allow"] == "GET, HEAD")
    }
  }
}

struct RequestTargetTests {
  @Test("segments and query are decoded separately")
  func decodes() throws {
    let target = try #require(RequestTarget("/v1/a%2Fb/c+d?name=J%C3%B6rg+X&flag&e=1%3D2"))
    #expect(target.segments == ["v1", "a/b", "c+d"])
    #expect(target.path == "/v1/a%2Fb/c+d")
    #expect(target.queryValue("name") == "Jörg X")
    #expect(target.queryValue("flag") == "")
    #expect(target.queryValue("e") == "1=2")
    #expect(target.queryValue("other") == nil)
  }

  @Test(
    "absolute form and origin form are parsed",
    arguments: [
      ("http://host:80/a?b=c", ["a"]), ("http://host", [""]), ("https://host?x=1", [""]), ("/a/", ["a", ""]),
    ])
  func forms(text: String, segments: [String]) throws {
    #expect(RequestTarget(text)?.segments == segments)
  }

  @Test("a query has at most a thousand parameters")
  func parameters() {
    for (count, isTaken) in [(999, true), (1000, true), (1001, false)] {
      let query = [String](repeating: "a", count: count).joined(separator: "&")
      #expect((RequestTarget("/?\(query)") != nil) == isTaken, "\(count)")
    }
  }

  @Test(
    "other targets are refused", arguments: ["", "*", "a", "/%", "/%4", "/%4g", "/%ff", "/a%00b", "/a b", "/?a=%f"])
  func otherTargets(text: String) {
    #expect(RequestTarget(text) == nil)
  }
}

struct ProblemTests {
  @Test("a problem is encoded with its standard and extension members")
  func encodes() throws {
    let problem = Problem(
      .unprocessableContent, type: "/problems/x", title: "T", detail: "a \"quoted\"\n\u{1} é", remedy: "do",
      members: [
        .init(name: "errors", value: .list([.object([.init(name: "field", value: .string("front"))]), .integer(-3)]))
      ])
    guard case .bytes(let bytes) = problem.response.body else {
      Issue.record("the body is not bytes")
      return
    }
    #expect(
      String(decoding: bytes, as: UTF8.self)
        == #"{"type":"/problems/x","title":"T","status":422,"detail":"a \"quoted\"\u000a\u0001 é","remedy":"do","#
        + #""errors":[{"field":"front"},-3]}"# + "\n")
    #expect(problem.response.headers["content-type"] == "application/problem+json")
  }
}
