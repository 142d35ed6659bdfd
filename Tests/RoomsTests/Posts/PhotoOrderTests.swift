import BlobTesting
import Crypto
import HTTPTesting
import Model
import Postgres
import Queue
import Store
import Testing

@testable import Kit
@testable import Rooms

@Suite("The order of photos", .tags(.database, .network), .timeLimit(.minutes(60)))
struct PhotoOrderTests {
  /// Submits a post of Ada's with photos, publishes a small variant of each, and returns its path.
  private static func submit(photos: Int, _ api: RunningAPI) async throws -> String {
    let form = PhotoSubmissionTests.form(photos: photos)
    let submitted = try await request(
      "POST", "/v1/posts", port: api.port, headers: UserClient.backend + [("Content-Type", form.contentType)],
      body: form.bytes)
    let path = try #require(submitted.headers["location"])
    let outputs = try (0..<photos).map { number in
      NewAsset(
        role: .photoSmall, type: "image/jpeg", content: try api.blobs.seal(Array("photo \(number)".utf8)), place: number
      )
    }
    let store = api.store
    try await store.transaction(publishing: outputs, api.pool) { session in
      let worker = try JobQueue.register(host: "test", process: 1, session)
      let job = try #require(try JobQueue.claim(worker: worker, queue: PostJob.queue, limit: 1, session).first)
      let work = try #require(try store.work(for: job, session))
      try store.publish(
        outputs, of: work, recipe: SHA256.digest(of: []), job: job,
        verdict: Verdict(reasons: [], inputs: [:], decisions: []), seconds: 1, session)
    }
    return path
  }

  private static func arrange(
    _ photos: String, of path: String, as user: String?, _ version: String?, _ api: RunningAPI
  ) async throws -> ClientResponse {
    try await UserClient.send(
      "PUT", "\(path)/photos",
      UserClient.backend + (user.map { [("Take5-User", $0)] } ?? []) + (version.map { [("If-Match", $0)] } ?? []),
      #"{"photos":\#(photos)}"#, api)
  }

  /// The contents of the photos of a post, and their URLs.
  private static func photos(_ post: JSONValue, _ api: RunningAPI) async throws -> (texts: [String], urls: [String]) {
    let urls = try post["photos"].elements.map { try #require($0["photo.small"]["url"].text) }
    var texts: [String] = []
    for url in urls { texts.append(try await api.get(url).text) }
    return (texts, urls)
  }

  @Test("the author changes the order and removes photos, with their sources; what stays keeps its URL")
  func arranging() async throws {
    try await UserClient.with { api in
      let path = try await Self.submit(photos: 3, api)
      let first = try await UserClient.send("GET", path, UserClient.backend, nil, api)
      let version = try #require(first.headers["etag"])
      let before = try await Self.photos(first.json, api)
      #expect(before.texts == ["photo 0", "photo 1", "photo 2"])
      #expect(try await Self.arrange("[2,0]", of: path, as: "ada", nil, api).status == 428)
      #expect(try await Self.arrange("[2,0]", of: path, as: "bob", version, api).status == 403)
      for wrong in ["[]", "[3]", "[0,0]", "[-1]", "[0.5]", "{}", "null"] {
        #expect(try await Self.arrange(wrong, of: path, as: "ada", version, api).status == 400, "\(wrong)")
      }
      let changed = try await Self.arrange("[2,0]", of: path, as: "ada", version, api)
      #expect(changed.status == 200)
      let after = try await Self.photos(changed.json, api)
      #expect(after.texts == ["photo 2", "photo 0"] && after.urls == [before.urls[2], before.urls[0]])
      #expect(try await api.get(before.urls[1]).status == 404)
      // Sent again because the response was lost, it changes nothing.
      #expect(try await Self.arrange("[1,0]", of: path, as: "ada", version, api).status == 412)
      let now = try #require(changed.headers["etag"])
      #expect(try await Self.arrange("[0,1]", of: path, as: "ada", now, api).headers["etag"] == now)
      // The photos have these sources.
      let sources = try await api.pool.run { session in
        try session.execute(
          """
          SELECT asset.place, encode(blob, 'hex') = ANY ($1::text[]) AS is_known FROM asset
          JOIN post ON post.source_set_id = asset.asset_set_id ORDER BY asset.place
          """,
          .texts([2, 0].map { SHA256.digest(of: PhotoSubmissionTests.jpeg + [UInt8($0)]).hex })
        ).map { (place: try $0.get("place", as: Int.self), isKnown: try $0.get("is_known", as: Bool.self)) }
      }
      #expect(sources.map(\.place) == [0, 1] && sources.allSatisfy { $0.isKnown })
      let sets: Int = try await api.pool.run { try $0.execute("SELECT count(*) FROM asset_set").single().get(0) }
      let blobs: Int = try await api.pool.run { try $0.execute("SELECT count(*) FROM blob").single().get(0) }
      #expect(sets == 2 && blobs == 4)
    }
  }
}
