import HTTPServer
import HTTPTesting
import Model
import PostgresTesting
import Take5Testing
import Testing

/// `take5 submit` to servers that answer with success, and do not do what they say: another program, and a service that has lost files.
@Suite("take5 submit to an unfit server", .tags(.process))
struct UnfitServerTests {
  private static func submit(to router: Router) async throws -> Take5Command {
    let folder = try TemporaryFolder()
    let photo = try Clips.write(StoreCommandTests.photo((90, 120, 60)), "photo.jpg", in: folder)
    return try await withServer(router: router) { server in
      try await Take5Command.run(
        ["submit", "photo", photo, "--author", "me", "--server", "http://127.0.0.1:\(server.port)"], in: folder.path)
    }
  }

  @Test("a server of another program ends the command with status 69, which names the option")
  func otherProgram() async throws {
    let router = Router(routes: [
      Route("POST", "/v1/uploads", bodyLimit: 1 << 20, admission: Route.open) { _ in
        Response(.ok, headers: ["Content-Type": "text/html"], body: .bytes(Array("<p>It works!".utf8)))
      }
    ])
    let run = try await Self.submit(to: router)
    #expect(run.status == 69 && run.output.isEmpty, "\(run)")
    #expect(run.errors.contains("not one of this version of take5") && run.errors.contains("--server"), "\(run)")
  }

  @Test("a service that has lost an upload of a stored post ends the command with status 69 and the id of the post")
  func lostUpload() async throws {
    let (upload, post) = (PublicID.now(), PublicID.now())
    let stored =
      #"{"id":"\#(post)","kind":"photo","created_at":"2026-11-26T12:00:00Z","status":"processing","reasons":[],"assets":{}}"#
    @Sendable func answer(_ status: Status) -> Response {
      Response(status, headers: ["Content-Type": "application/json"], body: .bytes(Array(stored.utf8)))
    }
    let router = Router(routes: [
      Route("POST", "/v1/uploads", bodyLimit: 1 << 20, admission: Route.open) { _ in
        Response(
          .created, headers: ["Location": "/v1/uploads/\(upload)", "Upload-Offset": "0", "Upload-Complete": "?0"])
      },
      Route("PATCH", "/v1/uploads/{id}", bodyLimit: 1 << 20, admission: Route.open) { _ in Response(.notFound) },
      Route("POST", "/v1/posts", bodyLimit: 1 << 20, admission: Route.open) { _ in answer(.accepted) },
      Route("GET", "/v1/posts/{id}", admission: Route.open) { _ in answer(.ok) },
    ])
    let run = try await Self.submit(to: router)
    #expect(run.status == 69 && run.output.isEmpty, "\(run)")
    #expect(run.errors.contains("has lost an upload of the post \(post)"), "\(run)")
    #expect(run.errors.contains("submit it again"), "\(run)")
  }
}
