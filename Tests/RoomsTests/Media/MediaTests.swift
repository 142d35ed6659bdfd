import BlobTesting
import Blobs
import Crypto
import Glibc
import HTTPTesting
import Model
import Platform
import Postgres
import PostgresTesting
import Queue
import Store
import Testing
import WaitTesting

@testable import Kit
@testable import Rooms

@Suite("Media files", .tags(.database, .network), .timeLimit(.minutes(60)))
struct MediaTests {
  private static let video = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 * 7 >> 2) }
  private static let image = [UInt8]((0..<200).map { UInt8($0) })

  /// Submits a moment and publishes outputs as a worker does: a video in a file, and an image in the database.
  private static func publish(
    _ api: RunningAPI, _ visibility: Visibility = .public
  ) async throws -> (post: JSONValue, job: JSONValue) {
    let draft = #"{"author":"ada","visibility":"\#(visibility.rawValue)"}"#
    let submitted = try await api.submit(.moment(post: draft)).json
    let store = api.store
    let outputs = [
      NewAsset(
        role: .composed, type: "video/mp4", content: try seal(video, api), width: 1080, height: 1920, duration: 5,
        loudness: -18.5),
      NewAsset(
        role: .poster, type: "image/jpeg", content: try seal(image, api), width: 540, height: 960, thumbhash: "abc="),
    ]
    let verdict = Verdict(
      reasons: [], inputs: [:], decisions: [Decision(.audio, choice: "front", reason: "it is the foreground")])
    try await store.transaction(publishing: outputs, api.pool) { session in
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
    try api.blobs.seal(bytes)
  }

  @Test("a ready post has its assets, and its job has a verdict")
  func readyPost() async throws {
    try await RunningAPI.with { api in
      let (post, job) = try await Self.publish(api)
      #expect(post["status"] == .string("ready"))
      #expect(post["assets"].names == ["composed", "poster"])
      let composed = post["assets"]["composed"]
      #expect(
        composed.names == [
          "url", "type", "bytes", "width", "height", "duration", "thumbhash", "color", "loudness_lufs",
        ])
      #expect(composed["bytes"] == .number(300_000))
      #expect(composed["duration"] == .number(5))
      #expect(composed["loudness_lufs"] == .number(-18.5))
      #expect(post["assets"]["poster"]["loudness_lufs"] == .null)
      #expect(post["assets"]["poster"]["duration"] == .null)
      #expect(post["assets"]["poster"]["thumbhash"] == .string("abc="))
      #expect(job["state"] == .string("completed"))
      #expect(job["progress"] == .number(1))
      #expect(job["verdict"]["verdict"] == .string("accepted"))
      #expect(job["verdict"]["decisions"][0]["choice"] == .string("front"))
    }
  }

  @Test("media are served completely, by range and by entity tag", arguments: ["composed", "poster"])
  func serves(role: String) async throws {
    let bytes = role == "composed" ? Self.video : Self.image
    try await RunningAPI.with { api in
      let url = try #require(try await Self.publish(api).post["assets"][role]["url"].text)
      let complete = try await api.get(url)
      #expect(complete.status == 200)
      #expect(complete.body == bytes)
      #expect(complete.headers["content-type"] == (role == "composed" ? "video/mp4" : "image/jpeg"))
      #expect(complete.headers["x-content-type-options"] == "nosniff")
      let tag = "\"\(SHA256.digest(of: bytes))\""
      #expect(complete.headers["etag"] == tag)

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

  @Test("the largest numbers of a range are beyond every file")
  func hugeRanges() async throws {
    try await RunningAPI.with { api in
      let assets = try await Self.publish(api).post["assets"]
      for (role, bytes) in [("composed", Self.video), ("poster", Self.image)] {
        let url = try #require(assets[role]["url"].text)
        for number in ["\(Int64.max)", "\(UInt64.max)", "99999999999999999999"] {
          for (range, expected) in [("1-\(number)", Array(bytes.dropFirst())), ("-\(number)", bytes)] {
            let part = try await api.get(url, headers: [("Range", "bytes=\(range)")])
            #expect(part.status == 206 && part.body == expected, "\(range)")
          }
          for range in ["\(number)-", "\(number)-\(number)"] {
            #expect(try await api.get(url, headers: [("Range", "bytes=\(range)")]).status == 416, "\(range)")
          }
        }
        #expect(try await api.get(url, headers: [("Range", "bytes=\(Int64.min)")]).status == 206)
      }
    }
  }

  /// Returns the path and the hash of an asset's file.
  private static func file(_ role: Role, _ api: RunningAPI) async throws -> (path: String, hash: SHA256Digest) {
    let bytes = try await api.pool.run { session in
      try session.execute("SELECT blob FROM asset WHERE role = $1", .text(role.rawValue)).single()
        .get(0, as: [UInt8].self)
    }
    let hash = try #require(SHA256Digest(bytes: bytes))
    return ("\(api.blobFolder)/\(hash.hex.prefix(2))/\(hash)", hash)
  }

  @Test(
    "a truncated or missing file is an error before the first byte, but not for a client that has the current version",
    arguments: ["truncated", "missing", "a FIFO"])
  func refusesDamaged(how: String) async throws {
    try await RunningAPI.with { api in
      let url = try #require(try await Self.publish(api).post["assets"]["composed"]["url"].text)
      let (path, hash) = try await Self.file(.composed, api)
      #expect((how == "truncated" ? truncate(path, 1000) : unlink(path)) == 0)
      if how == "a FIFO" { #expect(mkfifo(path, 0o600) == 0) }
      for headers in [[], [("Range", "bytes=10-19")]] {
        let response = try await api.get(url, headers: headers)
        #expect(response.status == 503)
        #expect(response.json["type"] == .string("urn:take5:problem:media_damaged"))
        #expect(response.headers["etag"] == nil && response.headers["retry-after"] != nil)
      }
      #expect(try await request("HEAD", url, port: api.port).status == 503)
      #expect(try await api.get(url, headers: [("If-None-Match", "\"\(hash)\"")]).status == 304)
      // The scrubber checks the blob.
      #expect(await api.scrub.take()?.hash == hash)
    }
  }

  @Test("a blob recorded as damaged is not served, and Retry-After is absent if it cannot be restored")
  func refusesKnown() async throws {
    try await RunningAPI.with { api in
      let assets = try await Self.publish(api).post["assets"]
      let (video, image) = (assets["composed"]["url"].text ?? "", assets["poster"]["url"].text ?? "")
      let files = [try await Self.file(.composed, api), try await Self.file(.poster, api)]
      #expect(try await api.get(video).status == 200)
      let offered = await api.scrub.take()
      #expect(offered?.hash == files[0].hash && offered?.bytes == 300_000)
      try await api.pool.run { session in
        for file in files { _ = try Damage.note(.corrupt, of: file.hash, session) }
      }
      let again = try await api.get(video)
      #expect(again.status == 503 && again.headers["retry-after"] != nil)
      // Its content is in the database; the state of a file does not matter.
      #expect(try await api.get(image).body == Self.image)
      try await api.pool.run { session in _ = try Damage.note(lost: files[0].hash, because: "no sources", session) }
      let lost = try await api.get(video)
      #expect(lost.status == 503 && lost.headers["retry-after"] == nil)
      try await api.pool.run { session in try Damage.drop(of: files[0].hash, session) }
      #expect(try await api.get(video).body == Self.video)
    }
  }

  @Test("an image in the database with a changed byte is not served, and is offered for a check")
  func damagedRow() async throws {
    try await RunningAPI.with { api in
      let url = try await Self.publish(api).post["assets"]["poster"]["url"].text ?? ""
      #expect(try await api.get(url).body == Self.image)
      let poster = try await Self.file(.poster, api)
      try await api.pool.run { session in
        try session.executeScript(
          """
          UPDATE blob SET inline_content = set_byte(inline_content, 7, get_byte(inline_content, 7) # 1)
          WHERE inline_content IS NOT NULL
          """, name: "damage")
      }
      for headers in [[], [("Range", "bytes=1-3")]] {
        let response = try await api.get(url, headers: headers)
        #expect(response.status == 503 && response.json["type"] == .string("urn:take5:problem:media_damaged"))
        #expect(response.headers["etag"] == nil && response.headers["retry-after"] != nil)
      }
      #expect(await api.scrub.take()?.hash == poster.hash)
    }
  }

  @Test("a storage that hangs is away for media and /readyz; nothing else waits for it, and it heals by itself")
  func hangingStorage() async throws {
    let stores = Shared<[HangingBlobStore]>([])
    var setting = RunningAPI.Setting()
    setting.wrap = { base in
      let store = HangingBlobStore(base)
      stores.withLock { $0.append(store) }
      return store
    }
    setting.api.reads.timeout = .milliseconds(100)
    setting.api.reads.checkTimeout = .milliseconds(100)
    setting.api.reads.threads = 4
    try await RunningAPI.with(setting) { api in
      let assets = try await Self.publish(api).post["assets"]
      let (video, image) = (assets["composed"]["url"].text ?? "", assets["poster"]["url"].text ?? "")
      let storage = try #require(stores.withLock(\.first))
      storage.hang()
      try await withThrowingTaskGroup(of: ClientResponse.self) { group in
        for _ in 0..<20 { group.addTask { try await api.get(video) } }
        group.addTask { try await api.get("/readyz") }
        for try await response in group {
          #expect(response.status == 503 && response.headers["retry-after"] != nil)
          #expect(response.json["type"] == .string("urn:take5:problem:storage_unavailable"))
        }
      }
      #expect(1...4 ~= storage.hanging)
      for path in ["/livez", "/v1/posts", image] { #expect(try await api.get(path).status == 200, "\(path)") }
      storage.answer()
      var response = try await api.get(video)
      let deadline = Deadline("the video of a storage that answers")
      while response.status == 503 {
        try deadline.check()
        response = try await api.get(video)
      }
      #expect(response.body == Self.video)
      try await until { try await api.get("/readyz").status != 503 }
    }
  }

  @Test("sources are never served")
  func sources() async throws {
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

  @Test("unknown and malformed ids get 404", arguments: ["posts", "jobs", "media"])
  func unknownIDs(kind: String) async throws {
    try await RunningAPI.with { api in
      for id in ["01890000-0000-7000-8000-000000000000", "1", "..", "%27%3B%20DROP"] {
        let response = try await api.get("/v1/\(kind)/\(id)")
        #expect(response.status == 404)
        #expect(response.json["type"].text?.hasPrefix("urn:take5:problem:") == true)
      }
    }
  }

  // MARK: Revoked URLs

  /// Publishes a post for friends and reads it with a new API key; returns the URL of its poster.
  private static func signed(_ api: RunningAPI) async throws -> (post: String, key: Int64, url: String) {
    let post = try #require(try await publish(api, .friends).post["id"].text)
    let key = try await api.createKey("t5-reader", [.read, .change])
    let read = try await api.get("/v1/posts/\(post)", headers: reader)
    return (post, key, try #require(read.json["assets"]["poster"]["url"].text))
  }

  private static let reader = [("Authorization", "Bearer t5-reader")]

  @Test("revoking a key invalidates its URLs")
  func endsWithItsKey() async throws {
    try await RunningAPI.with { api in
      let (_, key, url) = try await Self.signed(api)
      #expect(try await api.get(url).status == 200)
      _ = try await api.createKey("t5-other", [.read])
      try await api.revoke(key)
      let refused = try await api.get(url)
      #expect(refused.status == 403)
      #expect(refused.json["type"] == .string("urn:take5:problem:url_invalid"))
    }
  }

  @Test("creating the first key invalidates URLs that were issued without a key")
  func endsWithTheFirstKey() async throws {
    try await RunningAPI.with { api in
      let (post, _) = try await Self.publish(api, .friends)
      let url = try #require(post["assets"]["poster"]["url"].text)
      #expect(try await api.get(url).status == 200)
      _ = try await api.createKey("t5-reader", [.read])
      #expect(try await api.get(url).status == 403)
    }
  }

  @Test("restricting the visibility of a post invalidates its URLs, and extending it does not")
  func endsWithItsVisibility() async throws {
    try await RunningAPI.with { api in
      let (post, _, url) = try await Self.signed(api)
      func change(_ visibility: Visibility) async throws {
        let response = try await request(
          "PATCH", "/v1/posts/\(post)", port: api.port, headers: Self.reader + [("Content-Type", "application/json")],
          body: Array(#"{"visibility":"\#(visibility.rawValue)"}"#.utf8))
        #expect(response.status == 200)
      }
      try await change(.private)
      #expect(try await api.get(url).status == 404)
      let read = try await api.get("/v1/posts/\(post)", headers: Self.reader)
      let later = try #require(read.json["assets"]["poster"]["url"].text)
      #expect(try await api.get(later).body == Self.image)
      try await change(.public)
      #expect(try await api.get(later).status == 200)
    }
  }

  @Test("rotating the signing keys invalidates URLs at once, or after the maximum lifetime of a URL")
  func endsWithItsSecret() async throws {
    try await RunningAPI.with { api in
      let (_, _, url) = try await Self.signed(api)
      func rotate(keepingOld seconds: Double) async throws {
        try await api.pool.transaction { session in
          try Keys.rotateSigningKeys(keepingOld: seconds, session)
        }
        try await api.access.refresh(api.pool)
      }
      try await rotate(keepingOld: Double(MediaURLs.maxLifetime))
      #expect(try await api.get(url).status == 200)
      // A second rotation does not give the first secret more time.
      try await api.pool.run { session in
        _ = try session.execute("UPDATE signing_key SET retires_at = clock_timestamp() WHERE retires_at IS NOT NULL")
      }
      try await rotate(keepingOld: Double(MediaURLs.maxLifetime))
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
