import Blobs
import Crypto
import HTTPTesting
import Model
import Postgres
import Queue
import Store
import Testing

@testable import ControlAPI

@Suite(.tags(.database, .network), .timeLimit(.minutes(10)))
struct MediaTests {
  private static let video = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 * 7 >> 2) }
  private static let picture = [UInt8]((0..<200).map { UInt8($0) })

  /// Submits a moment and does a worker's part: a video that lies in a file and a picture that lies in the database.
  private static func publish(_ api: RunningAPI) async throws -> (post: JSONValue, job: JSONValue) {
    let submitted = try await api.submit(.moment()).json
    let store = api.store
    let outputs = [
      NewAsset(
        role: .composed, type: "video/mp4", content: try seal(video, api), width: 1080, height: 1920, duration: 5),
      NewAsset(
        role: .poster, type: "image/jpeg", content: try seal(picture, api), width: 540, height: 960, thumbhash: "abc="),
    ]
    let verdict = Verdict(
      reasons: [], inputs: [:], decisions: [Decision(.audio, choice: "front", reason: "it is the foreground")])
    try await api.pool.transaction { session in
      let worker = try JobQueue.register(host: "test", process: 1, session)
      let job = try #require(try JobQueue.claim(worker: worker, queue: PostJob.queue, limit: 1, session).first)
      let work = try #require(try store.work(for: job, session))
      try store.publish(
        outputs, of: work, recipe: SHA256.digest(of: []), job: job, verdict: verdict, seconds: 1, session)
    }
    let post = try await api.get("/v1/posts/\(submitted["id"].text ?? "")").json
    return (post, try await api.get(post["job"]["url"].text ?? "").json)
  }

  private static func seal(_ bytes: [UInt8], _ api: RunningAPI) throws -> SealedBlob {
    var staged = try api.blobs.stage()
    try staged.append(bytes.withUnsafeBytes { UnsafeRawBufferPointer($0) })
    return try staged.seal()
  }

  @Test func showsAReadyPostWithItsAssetsAndVerdict() async throws {
    try await RunningAPI.with { api in
      let (post, job) = try await Self.publish(api)
      #expect(post["status"] == .string("ready"))
      #expect(post["assets"].names == ["composed", "poster"])
      let composed = post["assets"]["composed"]
      #expect(composed.names == ["url", "type", "bytes", "width", "height", "duration", "thumbhash", "color"])
      #expect(composed["bytes"] == .number(300_000))
      #expect(composed["duration"] == .number(5))
      #expect(post["assets"]["poster"]["duration"] == .null)
      #expect(post["assets"]["poster"]["thumbhash"] == .string("abc="))
      #expect(job["state"] == .string("completed"))
      #expect(job["progress"] == .number(1))
      #expect(job["verdict"]["verdict"] == .string("accepted"))
      #expect(job["verdict"]["decisions"][0]["choice"] == .string("front"))
    }
  }

  @Test(arguments: ["composed", "poster"])
  func servesMediaWholeInPartsAndByVersion(role: String) async throws {
    let bytes = role == "composed" ? Self.video : Self.picture
    try await RunningAPI.with { api in
      let url = try #require(try await Self.publish(api).post["assets"][role]["url"].text)
      let whole = try await api.get(url)
      #expect(whole.status == 200)
      #expect(whole.body == bytes)
      #expect(whole.headers["content-type"] == (role == "composed" ? "video/mp4" : "image/jpeg"))
      #expect(whole.headers["x-content-type-options"] == "nosniff")
      let tag = "\"\(SHA256.digest(of: bytes))\""
      #expect(whole.headers["etag"] == tag)

      let part = try await api.get(url, headers: [("Range", "bytes=10-19"), ("If-Range", tag)])
      #expect(part.status == 206)
      #expect(part.body == Array(bytes[10..<20]))
      #expect(part.headers["content-range"] == "bytes 10-19/\(bytes.count)")
      let end = try await api.get(url, headers: [("Range", "bytes=-5")])
      #expect(end.body == Array(bytes.suffix(5)))
      let stale = try await api.get(url, headers: [("Range", "bytes=10-19"), ("If-Range", "\"other\"")])
      #expect(stale.status == 200)
      #expect(try await api.get(url, headers: [("Range", "bytes=\(bytes.count)-")]).status == 416)
      #expect(try await api.get(url, headers: [("If-None-Match", tag)]).status == 304)

      let head = try await request("HEAD", url, port: api.port)
      #expect(head.status == 200)
      #expect(head.headers["content-length"] == "\(bytes.count)")
    }
  }

  @Test func neverServesSources() async throws {
    try await RunningAPI.with { api in
      _ = try await api.submit(.moment())
      let ids = try await api.pool.run { session in
        try session.execute("SELECT public_id::text AS id FROM asset WHERE role LIKE 'source.%'")
          .map { try $0.get("id", as: String.self) }
      }
      #expect(ids.count == 2)
      for id in ids { #expect(try await api.get("/v1/media/\(id)").status == 404) }
    }
  }

  @Test(arguments: ["posts", "jobs", "media"])
  func knowsNothingOfOtherIDs(kind: String) async throws {
    try await RunningAPI.with { api in
      for id in ["01890000-0000-7000-8000-000000000000", "1", "..", "%27%3B%20DROP"] {
        let answer = try await api.get("/v1/\(kind)/\(id)")
        #expect(answer.status == 404)
        #expect(answer.json["type"].text?.hasPrefix("urn:take5:problem:") == true)
      }
    }
  }
}
