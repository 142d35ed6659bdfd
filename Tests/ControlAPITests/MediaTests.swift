import Blobs
import Crypto
import Glibc
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

  /// The file of an asset, by its role.
  private static func file(_ role: Role, _ api: RunningAPI) async throws -> (path: String, hash: SHA256Digest) {
    let bytes = try await api.pool.run { session in
      try session.execute("SELECT blob FROM asset WHERE role = $1", .text(role.rawValue)).single()
        .get(0, as: [UInt8].self)
    }
    let hash = try #require(SHA256Digest(bytes: bytes))
    return ("\(api.blobFolder)/\(hash.hex.prefix(2))/\(hash)", hash)
  }

  @Test(
    "a file that is cut short or gone is told before the first byte, in whole, in part and by HEAD; a right copy is known",
    arguments: ["truncated", "missing"])
  func refusesDamaged(how: String) async throws {
    try await RunningAPI.with { api in
      let url = try #require(try await Self.publish(api).post["assets"]["composed"]["url"].text)
      let (path, hash) = try await Self.file(.composed, api)
      #expect((how == "missing" ? unlink(path) : truncate(path, 1000)) == 0)
      for headers in [[], [("Range", "bytes=10-19")]] {
        let answer = try await api.get(url, headers: headers)
        #expect(answer.status == 503)
        #expect(answer.json["type"] == .string("urn:take5:problem:media_damaged"))
        #expect(answer.headers["etag"] == nil && answer.headers["retry-after"] != nil)
      }
      #expect(try await request("HEAD", url, port: api.port).status == 503)
      #expect(try await api.get(url, headers: [("If-None-Match", "\"\(hash)\"")]).status == 304)
      // Who reads blobs to their ends looks at it.
      #expect(await api.scrub.take()?.hash == hash)
    }
  }

  @Test("what is known to be damaged is not served, whatever its file's length; what cannot be made again says so")
  func refusesKnown() async throws {
    try await RunningAPI.with { api in
      let store = api.store
      let assets = try await Self.publish(api).post["assets"]
      let (video, picture) = (assets["composed"]["url"].text ?? "", assets["poster"]["url"].text ?? "")
      let files = [try await Self.file(.composed, api), try await Self.file(.poster, api)]
      #expect(try await api.get(video).status == 200)
      let offered = await api.scrub.take()
      #expect(offered?.hash == files[0].hash && offered?.bytes == 300_000)
      try await api.pool.run { session in
        for file in files { _ = try store.note(.corrupt, of: file.hash, session) }
      }
      let again = try await api.get(video)
      #expect(again.status == 503 && again.headers["retry-after"] != nil)
      // It lies in the database: whatever lies beside it is nobody's concern.
      #expect(try await api.get(picture).body == Self.picture)
      try await api.pool.run { session in _ = try store.note(lost: files[0].hash, because: "no sources", session) }
      let lost = try await api.get(video)
      #expect(lost.status == 503 && lost.headers["retry-after"] == nil)
      try await api.pool.run { session in try store.dropDamage(of: files[0].hash, session) }
      #expect(try await api.get(video).body == Self.video)
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

  // MARK: What ends a URL

  /// A post that was read under a key of its own, and the URL of its poster.
  private static func signed(_ api: RunningAPI) async throws -> (post: String, key: Int64, url: String) {
    let post = try #require(try await publish(api).post["id"].text)
    let key = try await api.keep("t5-reader", [.read, .change])
    let read = try await api.get("/v1/posts/\(post)", headers: reader)
    return (post, key, try #require(read.json["assets"]["poster"]["url"].text))
  }

  private static let reader = [("Authorization", "Bearer t5-reader")]

  @Test("a URL ends with the key that it was given to")
  func endsWithItsKey() async throws {
    try await RunningAPI.with { api in
      let (_, key, url) = try await Self.signed(api)
      #expect(try await api.get(url).status == 200)
      _ = try await api.keep("t5-other", [.read])
      try await api.revoke(key)
      let refused = try await api.get(url)
      #expect(refused.status == 403)
      #expect(refused.json["type"] == .string("urn:take5:problem:url_invalid"))
    }
  }

  @Test("a URL that was given out while no key was needed ends with the first key")
  func endsWithTheFirstKey() async throws {
    try await RunningAPI.with { api in
      let (post, _) = try await Self.publish(api)
      let url = try #require(post["assets"]["poster"]["url"].text)
      #expect(try await api.get(url).status == 200)
      _ = try await api.keep("t5-reader", [.read])
      #expect(try await api.get(url).status == 403)
    }
  }

  @Test("a URL ends when fewer may see its post, and stays when more may", arguments: [Visibility.friends, .private])
  func endsWithItsVisibility(visibility: Visibility) async throws {
    try await RunningAPI.with { api in
      let (post, _, url) = try await Self.signed(api)
      func change(_ visibility: Visibility) async throws {
        let answer = try await request(
          "PATCH", "/v1/posts/\(post)", port: api.port, headers: Self.reader + [("Content-Type", "application/json")],
          body: Array(#"{"visibility":"\#(visibility.rawValue)"}"#.utf8))
        #expect(answer.status == 200)
      }
      try await change(visibility)
      #expect(try await api.get(url).status == 404)
      let read = try await api.get("/v1/posts/\(post)", headers: Self.reader)
      let later = try #require(read.json["assets"]["poster"]["url"].text)
      #expect(try await api.get(later).body == Self.picture)
      try await change(.public)
      #expect(try await api.get(later).status == 200)
    }
  }

  @Test("a URL ends with its secret: at once, or after as long as any URL is good")
  func endsWithItsSecret() async throws {
    try await RunningAPI.with { api in
      let (_, _, url) = try await Self.signed(api)
      func rotate(keepingOld seconds: Double) async throws {
        try await api.pool.transaction { [store = api.store] session in
          try store.rotateSigningKeys(keepingOld: seconds, session)
        }
        try await api.access.refresh(api.store, api.pool)
      }
      try await rotate(keepingOld: Double(MediaURLs.lifetime))
      #expect(try await api.get(url).status == 200)
      // A second rotation does not give the first secret more time.
      try await api.pool.run { session in
        _ = try session.execute("UPDATE signing_key SET retires_at = clock_timestamp() WHERE retires_at IS NOT NULL")
      }
      try await rotate(keepingOld: Double(MediaURLs.lifetime))
      #expect(try await api.get(url).status == 403)
      func secrets() async throws -> Int {
        try await api.pool.run { try $0.execute("SELECT count(*) AS count FROM signing_key").single().get("count") }
      }
      #expect(try await secrets() == 2)
      try await rotate(keepingOld: 0)
      #expect(try await secrets() == 1)
    }
  }
}
