import BlobTesting
import BoxTesting
import Crypto
import FoundationEssentials
import Glibc
import HTTPTesting
import Model
import Platform
import Postgres
import PostgresTesting
import Testing
import WaitTesting

@testable import Blobs
@testable import Rooms

@Suite("Submissions before their uploads are whole", .tags(.database, .network), .timeLimit(.minutes(60)))
struct AwaitedUploadTests {
  private static func moment(_ ids: [String], key: String = "one", _ api: RunningAPI) async throws -> ClientResponse {
    try await request(
      "POST", "/v1/posts", port: api.port,
      headers: [("Content-Type", "application/json"), ("Idempotency-Key", key)],
      body: Array(
        #"{"kind":"take5","author":"ada","front":{"upload":"\#(ids[0])"},"back":{"upload":"\#(ids[1])"}}"#.utf8))
  }

  private static func id(_ path: String) -> String { String(path.dropFirst("/v1/uploads/".count)) }

  private static func create(_ bytes: [UInt8], _ api: RunningAPI, headers: [(String, String)] = []) async throws
    -> String
  {
    try UploadTests.path(try await UploadTests.create(bytes.count, api, headers: UploadTests.tus + headers))
  }

  private static func jobs(_ api: RunningAPI) async throws -> Int {
    try await api.pool.run { session in
      try session.execute("SELECT count(*) FROM job WHERE kind <> 'look'").single().get(0)
    }
  }

  /// Reads a post until it has what the test waits for.
  private static func read(
    _ post: String, _ api: RunningAPI, until isDone: (JSONValue) -> Bool
  ) async throws -> JSONValue {
    var json = try await api.get("/v1/posts/\(post)").json
    try await until {
      if isDone(json) { return true }
      json = try await api.get("/v1/posts/\(post)").json
      return false
    }
    return json
  }

  @Test("a request that waits for a post waits for its uploads, and then for its job")
  func waiting() async throws {
    try await RunningAPI.with { api in
      let clips = [boxedClip(seed: 1), boxedClip(seed: 2)]
      let paths = [try await Self.create(clips[0], api), try await Self.create(clips[1], api)]
      let post = try #require(try await Self.moment(paths.map(Self.id), api).headers["location"])
      async let waiting = api.get("\(post)?wait=50")
      try await until { api.submissions.waits.count == 1 }
      for (clip, path) in zip(clips, paths) {
        #expect(try await UploadTests.send(clip, at: 0, to: path, api).status == 204)
      }
      try await until { try await Self.jobs(api) == 1 }
      try await WaitingTests.end(api)
      #expect(try await waiting.json["status"] == .string("ready"))
    }
  }

  @Test("a post that is stored is accepted, although an upload cannot say that it is awaited, and is processed later")
  func unregistered() async throws {
    try await RunningAPI.with { api in
      let clips = [boxedClip(seed: 1), boxedClip(seed: 2)]
      let paths = [try await Self.create(clips[0], api), try await Self.create(clips[1], api)]
      // The record of the second one cannot be written.
      #expect(mkdir("\(api.blobFolder)/uploads/\(Self.id(paths[1])).draft", 0o700) == 0)
      let submitted = try await Self.moment(paths.map(Self.id), api)
      #expect(submitted.status == 202 && submitted.json["status"] == .string("processing"), "\(submitted.text)")
      let post = try #require(submitted.json["id"].text)
      #expect(rmdir("\(api.blobFolder)/uploads/\(Self.id(paths[1])).draft") == 0)
      for (clip, path) in zip(clips, paths) {
        #expect(try await UploadTests.send(clip, at: 0, to: path, api).status == 204)
      }
      await api.api.uploads.uploads.reconsiderAll()
      _ = try await Self.read(post, api) { $0["job"] != .null }
      #expect(try await Self.jobs(api) == 1)
    }
  }

  @Test("nothing is queued before the last byte of the last upload, in whatever order the bytes come")
  func lastByte() async throws {
    try await RunningAPI.with { api in
      let clips = [boxedClip(seed: 1), boxedClip(seed: 2)]
      let paths = [try await Self.create(clips[0], api), try await Self.create(clips[1], api)]
      let submitted = try await Self.moment(paths.map(Self.id), api)
      #expect(submitted.status == 202 && submitted.json["status"] == .string("processing"))
      #expect(submitted.json["job"] == .null)
      let post = try #require(submitted.json["id"].text)
      #expect(try await api.get(paths[0]).json["post"] == .string(post))
      #expect(try await UploadTests.send(clips[1], at: 0, to: paths[1], api).status == 204)
      #expect(try await UploadTests.send(clips[0].dropLast(), at: 0, to: paths[0], api).status == 204)
      #expect(try await Self.jobs(api) == 0)
      #expect(try await api.get("/v1/posts/\(post)").json["job"] == .null)
      // A repetition is the same post.
      let again = try await Self.moment(paths.map(Self.id), api)
      #expect(again.json["id"] == .string(post) && again.headers["idempotency-replayed"] == "true")
      #expect(try await UploadTests.send(clips[0].suffix(1), at: clips[0].count - 1, to: paths[0], api).status == 204)
      _ = try await Self.read(post, api) { $0["job"] != .null }
      #expect(try await Self.jobs(api) == 1)
      for bytes in clips { #expect(try api.blobs.contains(SHA256.digest(of: bytes))) }
      for (path, clip) in zip(paths, clips) { try await Self.expectFinished(path, clip.count, api) }
      // Also when its uploads are finished.
      #expect(try await Self.moment(paths.map(Self.id), api).json["id"] == .string(post))
    }
  }

  /// Waits until the bytes of an upload are those of its post, and expects that it is finished for its owner.
  private static func expectFinished(_ path: String, _ length: Int?, _ api: RunningAPI) async throws {
    let upload = try #require(PublicID(id(path)))
    try await until { try api.blobs.uploads().open(upload) == nil }
    let json = try await api.get(path).json
    #expect(json["is_whole"] == .boolean(true) && json["offset"] == json["length"])
    if let length { #expect(json["length"] == .number(Double(length))) }
  }

  @Test(
    "a client that has not received the last response learns that the upload is finished, and another user does not",
    arguments: UploadDialect.allCases)
  func lastResponseLost(_ dialect: UploadDialect) async throws {
    try await RunningAPI.with { api in
      let clips = [boxedClip(seed: 1), boxedClip(seed: 2)]
      let owner = [("Take5-User", "ada")]
      var paths: [String] = []
      for clip in clips { paths.append(try await Self.create(clip, api, headers: owner)) }
      let submitted = try await request(
        "POST", "/v1/posts", port: api.port, headers: owner + [("Content-Type", "application/json")],
        body: Array(
          #"{"kind":"take5","front":{"upload":"\#(Self.id(paths[0]))"},"back":{"upload":"\#(Self.id(paths[1]))"}}"#
            .utf8))
      let post = try #require(submitted.json["id"].text)
      for (clip, path) in zip(clips, paths) {
        let sent = try await request(
          "PATCH", path, port: api.port,
          headers: owner + UploadTests.tus + [("Upload-Offset", "0"), ("Content-Type", UploadDialect.tusContent)],
          body: clip)
        #expect(sent.status == 204)
      }
      for (clip, path) in zip(clips, paths) {
        let upload = try #require(PublicID(Self.id(path)))
        try await until { try api.blobs.uploads().open(upload) == nil }
        let named: [(String, String)]
        let last: [(String, String)]
        switch dialect {
        case .tus: (named, last) = (UploadTests.tus, [("Content-Type", UploadDialect.tusContent)])
        case .draft01:
          (named, last) = ([("Upload-Draft-Interop-Version", "3")], [("Upload-Incomplete", "?0")])
        case .draft: (named, last) = ([], [("Upload-Complete", "?1"), ("Content-Type", UploadDialect.draftContent)])
        }
        let head = try await request("HEAD", path, port: api.port, headers: owner + named)
        #expect(head.status == (dialect == .tus ? 200 : 204))
        #expect(head.headers["upload-offset"] == "\(clip.count)")
        switch dialect {
        case .tus: #expect(head.headers["upload-length"] == "\(clip.count)")
        case .draft01: #expect(head.headers["upload-incomplete"] == "?0")
        case .draft: #expect(head.headers["upload-complete"] == "?1")
        }
        let again = try await request(
          "PATCH", path, port: api.port, headers: owner + named + last + [("Upload-Offset", "\(clip.count)")])
        #expect(again.status == (dialect == .tus ? 204 : 201))
        // From an earlier offset it learns the right one.
        let early = try await request(
          "PATCH", path, port: api.port, headers: owner + named + last + [("Upload-Offset", "0")], body: clip)
        #expect(early.status == 409 && early.headers["upload-offset"] == "\(clip.count)")
        let others = try await request("HEAD", path, port: api.port, headers: [("Take5-User", "bob")] + named)
        #expect(others.status == 404)
        // Its bytes are those of its post alone.
        let second = try await Self.moment([Self.id(path), Self.id(path)], key: path, api)
        #expect(second.status == 404)
        let deleted = try await request("DELETE", path, port: api.port, headers: owner + named)
        #expect(deleted.status == 204)
        #expect(try await request("HEAD", path, port: api.port, headers: owner + named).status == 404)
      }
      #expect(try await api.get("/v1/posts/\(post)").json["job"] != .null)
      for clip in clips { #expect(try api.blobs.contains(SHA256.digest(of: clip))) }
    }
  }

  @Test("a post is rejected with the reasons of its uploads, and nothing of it stays")
  func rejected() async throws {
    try await RunningAPI.with { api in
      let clips = [boxedClip(seed: 1), Array("this is not a clip, whatever the app says".utf8)]
      let paths = [try await Self.create(clips[0], api), try await Self.create(clips[1], api)]
      let post = try #require(try await Self.moment(paths.map(Self.id), api).json["id"].text)
      #expect(try await UploadTests.send(clips[0], at: 0, to: paths[0], api).status == 204)
      _ = try await UploadTests.send(clips[1], at: 0, to: paths[1], api)
      let json = try await Self.read(post, api) { $0["status"] != .string("processing") }
      #expect(json["status"] == .string("rejected"))
      #expect(json["reasons"][0]["code"] == .string("unsupported_container"))
      for path in paths { try await Self.expectFinished(path, nil, api) }
      #expect(try await Self.jobs(api) == 0)
      #expect(try !api.blobs.contains(SHA256.digest(of: clips[0])))
    }
  }

  @Test(
    "a post that waits for uploads that are whole, as after a failover, gets their bytes, or asks for them again",
    arguments: [true, false])
  func whole(areThere: Bool) async throws {
    try await RunningAPI.with { api in
      let clips = [boxedClip(seed: 1), boxedClip(seed: 2)]
      let paths = [try await Self.create(clips[0], api), try await Self.create(clips[1], api)]
      let post = try #require(try await Self.moment(paths.map(Self.id), api).json["id"].text)
      for (clip, path) in zip(clips, paths) {
        #expect(try await UploadTests.send(clip, at: 0, to: path, api).status == 204)
      }
      for (clip, path) in zip(clips, paths) { try await Self.expectFinished(path, clip.count, api) }
      try await Self.loseProcessing(of: post, paths, api)
      #expect(try await api.get("/v1/posts/\(post)").json["job"] == .null)
      if !areThere {
        for clip in clips { #expect(try api.blobs.remove(SHA256.digest(of: clip))) }
        await api.api.uploads.uploads.reconsiderAll()
        let json = try await api.get("/v1/posts/\(post)").json
        #expect(json["status"] == .string("processing") && json["job"] == .null)
        for (clip, path) in zip(clips, paths) {
          #expect(try await UploadTests.offset(of: path, api) == "0")
          let upload = try await api.get(path).json
          #expect(upload["is_whole"] == .boolean(false) && upload["length"] == .number(Double(clip.count)))
          #expect(try await UploadTests.send(clip, at: 0, to: path, api).status == 204)
        }
      }
      await api.api.uploads.uploads.reconsiderAll()
      _ = try await Self.read(post, api) { $0["job"] != .null }
      #expect(try await Self.jobs(api) == 1)
      let sources = try await api.pool.run { session in
        try session.execute("SELECT blob FROM asset WHERE role LIKE 'source.%' ORDER BY role DESC").compactMap {
          SHA256Digest(bytes: try $0.get(0, as: [UInt8].self))
        }
      }
      #expect(sources == clips.map { SHA256.digest(of: $0) })
      for hash in sources { #expect(try api.blobs.contains(hash)) }
      for (clip, path) in zip(clips, paths) { try await Self.expectFinished(path, clip.count, api) }
    }
  }

  @Test("while one upload of a post is lost and its client is away, the rounds read nothing of the others")
  func partlyLost() async throws {
    let opened = Shared(0)
    var setting = RunningAPI.Setting()
    setting.wrap = { base in
      guard let base = base as? any InspectableBlobStore else { return base }
      var blobs = ObservedBlobStore(base)
      blobs.onOpen = { _ in opened.withLock { $0 += 1 } }
      return blobs
    }
    try await RunningAPI.with(setting) { api in
      let clips = [boxedClip(seed: 1), boxedClip(seed: 2)]
      let paths = [try await Self.create(clips[0], api), try await Self.create(clips[1], api)]
      let post = try #require(try await Self.moment(paths.map(Self.id), api).json["id"].text)
      for (clip, path) in zip(clips, paths) {
        #expect(try await UploadTests.send(clip, at: 0, to: path, api).status == 204)
      }
      for (clip, path) in zip(clips, paths) { try await Self.expectFinished(path, clip.count, api) }
      try await Self.loseProcessing(of: post, paths, api)
      #expect(try api.blobs.remove(SHA256.digest(of: clips[1])))
      opened.withLock { $0 = 0 }
      for _ in 0..<3 { await api.api.uploads.uploads.reconsiderAll() }
      #expect(opened.withLock(\.self) == 0)
      #expect(try await api.get("/v1/posts/\(post)").json["job"] == .null)
      #expect(try await UploadTests.offset(of: paths[1], api) == "0")

      #expect(try await UploadTests.send(clips[1], at: 0, to: paths[1], api).status == 204)
      await api.api.uploads.uploads.reconsiderAll()
      _ = try await Self.read(post, api) { $0["job"] != .null }
      #expect(try await Self.jobs(api) == 1)
      #expect(opened.withLock(\.self) > 0)
      for clip in clips { #expect(try api.blobs.contains(SHA256.digest(of: clip))) }
    }
  }

  /// Lets the database be as before the commit that gave a post the bytes of its uploads.
  private static func loseProcessing(of post: String, _ paths: [String], _ api: RunningAPI) async throws {
    try await api.pool.run { session in
      let awaited = paths.enumerated().map { index, path in
        "('\(id(path))', (SELECT id FROM post), '\(index == 0 ? "front" : "back")', \(index))"
      }
      try session.executeScript(
        """
        SET session_replication_role = replica;
        UPDATE post SET job = NULL, source_set_id = NULL WHERE public_id = '\(post)';
        DELETE FROM job; DELETE FROM asset; DELETE FROM asset_set; DELETE FROM blob;
        INSERT INTO awaited_upload (upload, post_id, part, place) VALUES \(awaited.joined(separator: ", "));
        RESET session_replication_role
        """, name: "a lost commit")
    }
  }

  @Test("a post whose uploads expire is rejected")
  func expired() async throws {
    try await RunningAPI.with { api in
      let clips = [boxedClip(seed: 1), boxedClip(seed: 2)]
      let paths = [try await Self.create(clips[0], api), try await Self.create(clips[1], api)]
      let submitted = try await Self.moment(paths.map(Self.id), api)
      let post = try #require(submitted.json["id"].text)
      let upload = try #require(PublicID(Self.id(paths[1])))
      // What the sweeper does once they have expired.
      try api.blobs.uploads().remove(upload)
      api.awaitingPosts.reconsider(try #require(PublicID(post)))
      let json = try await Self.read(post, api) { $0["status"] != .string("processing") }
      #expect(json["reasons"][0]["code"] == .string("upload_expired"))
    }
  }

  @Test(
    "the round of a machine that does not have the uploads leaves a post to the one that has them, as long as these live"
  )
  func elsewhere() async throws {
    for (lifetime, status) in [(86_400.0, "processing"), (2, "rejected")] {
      var setting = RunningAPI.Setting()
      setting.api.uploadLifetime = lifetime
      try await RunningAPI.with(setting) { api in
        let clips = [boxedClip(seed: 1), boxedClip(seed: 2)]
        let paths = [try await Self.create(clips[0], api), try await Self.create(clips[1], api)]
        let post = try #require(try await Self.moment(paths.map(Self.id), api).json["id"].text)
        // Until the shorter lifetime is over, the post waits.
        var json = try await api.get("/v1/posts/\(post)").json
        let deadline = Deadline("the end of the shorter lifetime")
        repeat {
          try deadline.check()
          await api.otherMachine.uploads.uploads.reconsiderAll()
          json = try await api.get("/v1/posts/\(post)").json
        } while lifetime < 10 && json["status"] == .string("processing")
        #expect(json["status"] == .string(status))
      }
    }
  }

  @Test("a post that cannot be looked at is named in the log, and keeps no other post from being processed")
  func failure() async throws {
    let lines = Locked<[String]>([])
    var setting = RunningAPI.Setting()
    setting.log = { line in lines.withLock { $0.append(line) } }
    try await RunningAPI.with(setting) { api in
      let clips = [boxedClip(seed: 1), boxedClip(seed: 2)]
      var posts: [(id: String, uploads: [PublicID])] = []
      for key in ["one", "two"] {
        let paths = [try await Self.create(clips[0], api), try await Self.create(clips[1], api)]
        let post = try #require(try await Self.moment(paths.map(Self.id), key: key, api).json["id"].text)
        posts.append((post, paths.compactMap { PublicID(Self.id($0)) }))
      }
      // The files of the second one become whole without a request, so that only a round finds it.
      for (id, clip) in zip(posts[1].uploads, clips) {
        let file = try #require(try api.blobs.uploads().open(id))
        #expect(try clip.withUnsafeBytes { try file.append($0, at: 0) } && file.complete(at: Int64(clip.count)))
      }
      let path = "\(api.blobFolder)/uploads/\(posts[0].uploads[0])"
      #expect(unlink(path) == 0 && mkdir(path, 0o700) == 0)
      await api.api.uploads.uploads.reconsiderAll()
      let second = try await api.get("/v1/posts/\(posts[1].id)").json
      #expect(second["job"] != .null)
      #expect(try await api.get("/v1/posts/\(posts[0].id)").json["status"] == .string("processing"))
      let failures = { lines.withLock { $0.filter { $0.contains("could not be looked at") } } }
      #expect(failures().contains { $0.contains(posts[0].id) } && !failures().contains { $0.contains(posts[1].id) })
      // The same if a request names it.
      let count = failures().count
      api.awaitingPosts.reconsider(try #require(PublicID(posts[0].id)))
      try await until { failures().count != count }
      #expect(rmdir(path) == 0)
    }
  }

  @Test("while the media of posts are on their slow way to a bucket, no transaction is open, and a photo is processed")
  func slowBucket() async throws {
    let (started, waiting, bucket) = (Shared(0), OneShot<Void>(), try Gate())
    let slow = (UInt8(0)..<3).map { SHA256.digest(of: boxedClip(seed: $0)) }
    var setting = RunningAPI.Setting()
    setting.wrap = { base in
      guard let base = base as? any InspectableBlobStore else { return base }
      var blobs = ObservedBlobStore(base)
      blobs.onPrepare = { blob in
        guard slow.contains(blob.hash) else { return }
        let count = started.withLock { count in
          count += 1
          return count
        }
        if count == 3 { waiting.fulfil(()) }
        bucket.wait()
      }
      return blobs
    }
    try await RunningAPI.with(setting) { api in
      var posts: [String] = []
      for index in 0..<3 {
        let clips = [boxedClip(seed: UInt8(index)), boxedClip(seed: UInt8(index + 10))]
        let paths = [try await Self.create(clips[0], api), try await Self.create(clips[1], api)]
        posts.append(try #require(try await Self.moment(paths.map(Self.id), key: "\(index)", api).json["id"].text))
        for (path, clip) in zip(paths, clips) { _ = try await UploadTests.send(clip, at: 0, to: path, api) }
      }
      await waiting.value
      #expect(try idleTransactions(api.url) == 0)
      // The photo is submitted before its bytes, too, and takes the last place.
      let path = try await Self.create(PhotoSubmissionTests.jpeg, api)
      let submitted = try await request(
        "POST", "/v1/posts", port: api.port, headers: [("Content-Type", "application/json")],
        body: Array(#"{"kind":"photo","author":"ada","photo":{"upload":"\#(Self.id(path))"}}"#.utf8))
      let photo = try #require(submitted.json["id"].text)
      _ = try await UploadTests.send(PhotoSubmissionTests.jpeg, at: 0, to: path, api)
      _ = try await Self.read(photo, api) { $0["job"] != .null }
      for post in posts { #expect(try await api.get("/v1/posts/\(post)").json["job"] == .null) }
      #expect(try idleTransactions(api.url) == 0)
      bucket.open()
      for post in posts { _ = try await Self.read(post, api) { $0["job"] != .null } }
    }
  }

  @Test("a submission whose upload another request removes meanwhile gets 404")
  func removedMeanwhile() async throws {
    try await RunningAPI.with { api in
      let id = try await UploadTests.upload(PhotoSubmissionTests.jpeg, api)
      let submit = { @Sendable in
        try await request(
          "POST", "/v1/posts", port: api.port, headers: [("Content-Type", "application/json")],
          body: Array(#"{"kind":"photo","author":"ada","photo":{"upload":"\#(id)"}}"#.utf8))
      }
      let submission = try await api.whileLocked("removal_count", in: "ACCESS EXCLUSIVE MODE") {
        let submission = Task { try await submit() }
        try await until { try await api.waitingStatements() != 0 }
        #expect(
          try await request("DELETE", "/v1/uploads/\(id)", port: api.port, headers: UploadTests.tus).status == 204)
        return submission
      }
      let refused = try await submission.value
      #expect(refused.status == 404 && UserClient.kind(refused) == "upload_not_found")
      #expect(try await api.get("/v1/posts?author=ada").json["items"].elements.isEmpty)
    }
  }

  @Test("the repetition of a submission whose first request uses the upload meanwhile gets the response to that one")
  func repeatedMeanwhile() async throws {
    let (calls, isDone) = (Shared(0), try Gate())
    var setting = RunningAPI.Setting()
    setting.wrap = { base in
      guard let base = base as? any InspectableBlobStore else { return base }
      var blobs = ObservedBlobStore(base)
      // The request that is first to prepare the photo continues once the other one has its response.
      blobs.onPrepare = { _ in
        let isFirst = calls.withLock { calls in
          calls += 1
          return calls == 1
        }
        if isFirst { isDone.wait() }
      }
      return blobs
    }
    try await RunningAPI.with(setting) { api in
      let id = try await UploadTests.upload(PhotoSubmissionTests.jpeg, api)
      let submit = { @Sendable in
        try await request(
          "POST", "/v1/posts", port: api.port,
          headers: [("Content-Type", "application/json"), ("Idempotency-Key", "repeated")],
          body: Array(#"{"kind":"photo","author":"ada","photo":{"upload":"\#(id)"}}"#.utf8))
      }
      async let late = submit()
      try await until { calls.withLock { $0 } == 1 }
      let first = try await submit()
      isDone.open()
      let second = try await late
      #expect(first.status == 202 && second.status == 202)
      #expect(second.json["id"] == first.json["id"] && second.headers["idempotency-replayed"] == "true")
    }
  }

  @Test("one post awaits an upload, and a post that is deleted awaits none")
  func once() async throws {
    try await RunningAPI.with { api in
      let clips = [boxedClip(seed: 1), boxedClip(seed: 2)]
      let paths = [try await Self.create(clips[0], api), try await Self.create(clips[1], api)]
      let ids = paths.map(Self.id)
      let post = try #require(try await Self.moment(ids, api).json["id"].text)
      let second = try await Self.moment(ids, key: "two", api)
      #expect(second.status == 409 && second.json["type"] == .string("urn:take5:problem:upload_in_use"))
      #expect(try await request("DELETE", "/v1/posts/\(post)", port: api.port).status == 204)
      #expect(try await Self.moment(ids, key: "three", api).status == 202)
    }
  }

  @Test("what is wrong with a submission shows before any byte of its uploads is sent")
  func early() async throws {
    var setting = RunningAPI.Setting()
    setting.clipBytes = 1000
    try await RunningAPI.with(setting) { api in
      let small = try await Self.create([1, 2, 3], api)
      let large = try await Self.create([UInt8](repeating: 0, count: 1001), api)
      let tooLarge = try await Self.moment([Self.id(small), Self.id(large)], api)
      #expect(tooLarge.status == 413 && tooLarge.json["type"] == .string("urn:take5:problem:part_too_large"))
      let json = [("Content-Type", "application/json")]
      for (body, type) in [
        (#"{"kind":"take5","author":"ada","front":{"upload":"ID"}}"#, "missing_part"),
        (#"{"kind":"take5","author":"ada","photo":{"upload":"ID"}}"#, "missing_part"),
        (#"{"kind":"photo","author":"ada","photo":{"upload":"ID"},"caption":7}"#, "invalid_fields"),
      ] {
        let response = try await request(
          "POST", "/v1/posts", port: api.port, headers: json,
          body: Array(body.replacing("ID", with: Self.id(small)).utf8))
        #expect(response.status == 400 && response.json["type"] == .string("urn:take5:problem:\(type)"))
      }
    }
  }

  @Test("an upload whose bytes are not those of its digest is refused for good, and so is a post that awaits it")
  func digest() async throws {
    try await RunningAPI.with { api in
      let clips = [boxedClip(seed: 1), boxedClip(seed: 2)]
      let digest = { (bytes: [UInt8]) in
        ("Repr-Digest", "sha-512=:AAAA:, sha-256=:\(base64(SHA256.digest(of: bytes).bytes)):")
      }
      let paths = [
        try await Self.create(clips[0], api, headers: [digest(clips[0])]),
        try await Self.create(clips[1], api, headers: [digest(clips[0])]),
      ]
      let post = try #require(try await Self.moment(paths.map(Self.id), api).json["id"].text)
      #expect(try await UploadTests.send(clips[0], at: 0, to: paths[0], api).status == 204)
      let head = try await request("HEAD", paths[0], port: api.port, headers: [("Want-Repr-Digest", "sha-256=1")])
      #expect(head.headers["repr-digest"] == "sha-256=:\(base64(SHA256.digest(of: clips[0]).bytes)):")
      let refused = try await UploadTests.send(clips[1], at: 0, to: paths[1], api)
      #expect(refused.status == 400 && refused.json["type"] == .string("urn:take5:problem:digest_mismatch"))
      let json = try await Self.read(post, api) { $0["status"] != .string("processing") }
      #expect(json["reasons"][0]["code"] == .string("digest_mismatch"))
      let malformed = try await UploadTests.create(
        3, api, headers: UploadTests.tus + [("Repr-Digest", "sha-256=:AAAA:")])
      #expect(malformed.status == 400 && malformed.json["type"] == .string("urn:take5:problem:invalid_upload"))
    }
  }
}

/// Bytes in base64 (RFC 4648, section 4).
private func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
