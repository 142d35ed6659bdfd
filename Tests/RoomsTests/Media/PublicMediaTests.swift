import HTTPTesting
import Model
import Testing

@testable import Kit
@testable import Rooms

@Suite("Media of public posts", .tags(.database, .network), .timeLimit(.minutes(60)))
struct PublicMediaTests {
  /// The URLs of the poster and of a reaction of a post.
  private static func urls(
    _ post: PublicID, _ client: [(String, String)], _ api: RunningAPI
  ) async throws -> [String] {
    let read = try await api.get("/v1/posts/\(post)", headers: client).json
    let reactions = try await api.get("/v1/posts/\(post)/reactions", headers: client).json
    return [
      try #require(read["assets"]["poster"]["url"].text),
      try #require(reactions["items"][0]["assets"]["photo.medium"]["url"].text),
    ]
  }

  @Test("their URLs are the same for all clients, need no credential, and are for shared caches")
  func same() async throws {
    try await UserClient.with { api in
      let fixture = try await AccessFixture(api, visibility: .public)
      let urls = try await Self.urls(fixture.post, UserClient.backend, api)
      for user in ["ada", "bob"] {
        #expect(try await Self.urls(fixture.post, UserClient.backend + [("Take5-User", user)], api) == urls)
      }
      for url in urls {
        #expect(!url.contains("?"))
        for credential in [[], UserClient.backend] {
          let response = try await api.get(url, headers: credential)
          #expect(response.status == 200)
          #expect(response.headers["cache-control"] == "public, max-age=3600, must-revalidate")
          let tag = try #require(response.headers["etag"])
          #expect(try await api.get(url, headers: credential + [("If-None-Match", tag)]).status == 304)
        }
        // An invalid credential is not ignored.
        #expect(try await api.get(url, headers: [("Authorization", "Bearer wrong")]).status == 401)
      }
    }
  }

  @Test("a profile image and a photo of a place have such URLs, and the list of a calendar")
  func others() async throws {
    try await UserClient.with { api in
      let fixture = try await AccessFixture(api, visibility: .public)
      for path in [
        "/v1/users/ada/profile-image", "/v1/images/\(fixture.placePhoto)", "/v1/users/ada",
        "/v1/users/ada/calendar?month=\(fixture.month)",
      ] {
        let text = try await api.get(path, headers: UserClient.backend).text
        let parts = text.split(separator: "\"").filter { $0.hasPrefix("/v1/media/") || $0.hasPrefix("\\/v1\\/media") }
        #expect(!parts.isEmpty || path.contains("calendar"), "\(path)")
        for url in parts {
          #expect(!url.contains("?"))
          #expect(try await api.get(String(url).replacing("\\", with: "")).status == 200, "\(path)")
        }
      }
    }
  }

  @Test(
    "they are dead once the post is not public any more, and once it is deleted",
    arguments: ["friends", "private", nil])
  func ended(visibility: String?) async throws {
    try await UserClient.with { api in
      let fixture = try await AccessFixture(api, visibility: .public)
      let path = "/v1/posts/\(fixture.post)"
      let before = try await Self.urls(fixture.post, UserClient.backend, api)
      guard let visibility else {
        #expect(try await UserClient.send("DELETE", path, UserClient.backend, nil, api).status == 204)
        for url in before { #expect(try await api.get(url).status == 404) }
        return
      }
      let changed = try await UserClient.send(
        "PATCH", path, UserClient.backend, #"{"visibility":"\#(visibility)"}"#, api)
      #expect(changed.status == 200)
      let after = try await Self.urls(fixture.post, UserClient.backend, api)
      for url in before {
        // Not for the author either: the media have other ids, so that an old URL is dead for everybody.
        for credential in [[], UserClient.backend] {
          #expect(try await api.get(url, headers: credential).status == 404)
        }
      }
      for url in after {
        #expect(url.contains("&signature="))
        let response = try await api.get(url)
        #expect(response.status == 200 && response.headers["cache-control"]?.hasPrefix("private,") == true)
      }
      // Public again, it has the URLs of the new ids.
      _ = try await UserClient.send("PATCH", path, UserClient.backend, #"{"visibility":"public"}"#, api)
      let again = try await Self.urls(fixture.post, UserClient.backend, api)
      #expect(again == after.map { String($0.prefix { $0 != "?" }) })
      for url in again { #expect(try await api.get(url).status == 200) }
    }
  }
}
