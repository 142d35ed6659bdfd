import HTTPServer
import HTTPTesting
import Model
import Testing

@testable import Kit
@testable import Rooms

/// A proxy that gives the service a path: it removes the path from requests, and clients see it in what they get.
@Suite("A service below a path", .tags(.database, .network), .timeLimit(.minutes(60)))
struct PublicPathTests {
  @Test("what clients get to follow has the path, and works without it; signatures are of the paths of the service")
  func followed() async throws {
    var setting = RunningAPI.Setting(key: "t5-operator")
    setting.server.publicURL = PublicURL("https://app.example.org/api")
    try await RunningAPI.with(setting) { api in
      let key = [("Authorization", "Bearer t5-operator")]
      let form = MultipartForm.moment()
      let post = try await api.submit(form, headers: key + [("Idempotency-Key", "one")])
      let again = try await api.submit(form, headers: key + [("Idempotency-Key", "one")])
      let id = try #require(post.json["id"].text)
      for response in [post, again] { #expect(response.headers["location"] == "/api/v1/posts/\(id)") }
      #expect(post.json["job"]["url"].text?.hasPrefix("/api/v1/jobs/") == true)
      let job = try #require(post.json["job"]["url"].text)
      #expect(try await api.get(String(job.dropFirst("/api".count)), headers: key).json["url"].text == job)
      let opened = try await request(
        "POST", "/v1/moderation/cases", port: api.port, headers: key + [("Content-Type", "application/json")],
        body: Array(#"{"post":"\#(id)"}"#.utf8))
      #expect(opened.json["url"].text == "/api/v1/posts/\(id)", "\(opened.text)")
      let collection = try await request(
        "POST", "/v1/collections", port: api.port,
        headers: key + [("Take5-User", "ada"), ("Content-Type", "application/json")],
        body: Array(#"{"kind":"itinerary","name":"Summer"}"#.utf8))
      let link = try await request(
        "POST", "/v1/collections/\(try #require(collection.json["id"].text))/link", port: api.port,
        headers: key + [("Take5-User", "ada")])
      #expect(link.json["url"].text?.hasPrefix("/api/v1/collections/") == true, "\(link.text)")
      let upload = try await request(
        "POST", "/v1/uploads", port: api.port,
        headers: key + [("Tus-Resumable", "1.0.0"), ("Upload-Length", "5"), ("X-Forwarded-For", "192.0.2.1")])
      #expect(upload.headers["location"]?.hasPrefix("https://app.example.org/api/v1/uploads/") == true)

      for visibility in [Visibility.public, .private] {
        let fixture = try await AccessFixture(api, visibility: visibility)
        let read = try await api.get("/v1/posts/\(fixture.post)", headers: key).json
        let url = try #require(read["assets"]["poster"]["url"].text)
        #expect(url.hasPrefix("/api/v1/media/") && url.contains("signature=") == (visibility == .private))
        #expect(try await api.get(String(url.dropFirst("/api".count))).status == 200)
      }
    }
  }
}
