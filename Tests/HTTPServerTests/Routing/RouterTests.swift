import Platform
import Testing

@testable import HTTPServer

struct RouterTests {
  private static func route(_ method: String, _ template: String) -> Route {
    Route(method, template) { _ in Response(.ok) }
  }

  private let router = Router(routes: [
    route("GET", "/v1/posts/{id}"), route("DELETE", "/v1/posts/{id}"), route("GET", "/v1/posts/latest"),
  ])

  private func match(_ method: String, _ path: String) throws(Problem) -> Router.Match {
    let head = RequestHead(
      method: method, target: RequestTarget(path)!, version: .http11, headers: [:], framing: .none)
    return try router.match(head, from: IPAddress("127.0.0.1")!)
  }

  @Test func capturesAndPrefersLiterals() throws {
    #expect(try match("GET", "/v1/posts/a%2Fb").parameters == ["id": "a/b"])
    #expect(try match("GET", "/v1/posts/latest").route.template == "/v1/posts/latest")
    #expect(try match("HEAD", "/v1/posts/latest").route.method == "GET")
  }

  @Test(arguments: ["/v1/posts", "/v1/posts/", "/v1/posts/a/", "/v1/posts/a/b", "/", "/V1/posts/a"])
  func findsNothingElsewhere(path: String) throws {
    #expect(throws: Problem.self) { try match("GET", path) }
    do { _ = try match("GET", path) } catch { #expect(error.status == .notFound) }
  }

  @Test func namesTheMethodsThatAPathTakes() {
    do throws(Problem) {
      _ = try match("PUT", "/v1/posts/a")
    } catch {
      #expect(error.status == .methodNotAllowed)
      #expect(error.headers["Allow"] == "DELETE, GET, HEAD")
    }
  }

  @Test func aPathBelongsToItsMostSpecificPattern() {
    do throws(Problem) {
      _ = try match("DELETE", "/v1/posts/latest")
      Issue.record("it would delete the post of that name")
    } catch {
      #expect(error.headers["Allow"] == "GET, HEAD")
    }
  }
}
