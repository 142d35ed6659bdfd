import BlobTesting
import BoxTesting
import Crypto
import Glibc
import HTTPTesting
import Model
import Platform
import Postgres
import PostgresTesting
import Testing
import WaitTesting

@testable import Blobs
@testable import Kit
@testable import Rooms

@Suite("The rounds that look for posts whose uploads are whole", .tags(.database, .network), .timeLimit(.minutes(60)))
struct AwaitedUploadRoundTests {
  @Test(
    "a post that waits for uploads that are whole, as after a failover, gets their bytes, or asks for them again",
    arguments: [true, false])
  func whole(areThere: Bool) async throws {
    try await RunningAPI.with { api in
      let early = try await EarlySubmission(api)
      let post = try early.post
      try await early.send(api)
      try await early.expectFinished(api)
      try await early.loseProcessing(api)
      #expect(try await api.get("/v1/posts/\(post)").json["job"] == .null)
      if !areThere {
        for clip in early.clips { #expect(try api.blobs.remove(SHA256.digest(of: clip))) }
        await api.api.uploads.uploads.reconsiderAll()
        let json = try await api.get("/v1/posts/\(post)").json
        #expect(json["status"] == .string("processing") && json["job"] == .null)
        for (clip, path) in zip(early.clips, early.paths) {
          #expect(try await UploadTests.offset(of: path, api) == "0")
          let upload = try await api.get(path).json
          #expect(upload["is_whole"] == .boolean(false) && upload["length"] == .number(Double(clip.count)))
          #expect(try await UploadTests.send(clip, at: 0, to: path, api).status == 204)
        }
      }
      await api.api.uploads.uploads.reconsiderAll()
      _ = try await api.read(post) { $0["job"] != .null }
      #expect(try await api.mediaJobs() == 1)
      let sources = try await api.pool.run { session in
        try session.execute("SELECT blob FROM asset WHERE role LIKE 'source.%' ORDER BY role DESC").compactMap {
          SHA256Digest(bytes: try $0.get(0, as: [UInt8].self))
        }
      }
      #expect(sources == early.clips.map { SHA256.digest(of: $0) })
      for hash in sources { #expect(try api.blobs.contains(hash)) }
      try await early.expectFinished(api)
    }
  }

  @Test("an upload that was whole and whose file has lost bytes since is asked for again")
  func cut() async throws {
    try await RunningAPI.with { api in
      let early = try await EarlySubmission(api)
      func sendAndCut(_ path: String) async throws {
        #expect(try await UploadTests.send(early.clips[0], at: 0, to: path, api).status == 204)
        let file = "\(api.blobFolder)/uploads/\(EarlySubmission.id(path))"
        #expect(chmod(file, 0o640) == 0 && truncate(file, 100) == 0 && chmod(file, 0o440) == 0)
      }
      let others = try await EarlySubmission.uploads(of: early.clips, api)
      try await sendAndCut(others[0])
      let later = try await EarlySubmission.submit(others, key: "two", api)
      #expect(later.status == 404 && later.json["type"] == .string("urn:take5:problem:upload_not_found"))

      try await sendAndCut(early.paths[0])
      await api.api.uploads.uploads.reconsiderAll()
      #expect(try await UploadTests.offset(of: early.paths[0], api) == "0")
      for (clip, path) in zip(early.clips, early.paths) {
        #expect(try await UploadTests.send(clip, at: 0, to: path, api).status == 204)
      }
      _ = try await api.read(try early.post) { $0["job"] != .null }
      for clip in early.clips { #expect(try api.blobs.contains(SHA256.digest(of: clip))) }
    }
  }

  @Test("while one upload of a post is lost and its client is away, the rounds read nothing of the others")
  func partlyLost() async throws {
    let opened = Shared(0)
    let setting = RunningAPI.Setting.observing { blobs in
      blobs.onOpen = { _ in opened.withLock { $0 += 1 } }
    }
    try await RunningAPI.with(setting) { api in
      let early = try await EarlySubmission(api)
      let post = try early.post
      try await early.send(api)
      try await early.expectFinished(api)
      try await early.loseProcessing(api)
      #expect(try api.blobs.remove(SHA256.digest(of: early.clips[1])))
      opened.withLock { $0 = 0 }
      for _ in 0..<3 { await api.api.uploads.uploads.reconsiderAll() }
      #expect(opened.withLock(\.self) == 0)
      #expect(try await api.get("/v1/posts/\(post)").json["job"] == .null)
      #expect(try await UploadTests.offset(of: early.paths[1], api) == "0")

      #expect(try await UploadTests.send(early.clips[1], at: 0, to: early.paths[1], api).status == 204)
      await api.api.uploads.uploads.reconsiderAll()
      _ = try await api.read(post) { $0["job"] != .null }
      #expect(try await api.mediaJobs() == 1)
      #expect(opened.withLock(\.self) > 0)
      for clip in early.clips { #expect(try api.blobs.contains(SHA256.digest(of: clip))) }
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
        let early = try await EarlySubmission(api)
        let post = try early.post
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
      var posts: [(id: String, uploads: [PublicID])] = []
      for key in ["one", "two"] {
        let early = try await EarlySubmission(api, key: key)
        posts.append((try early.post, early.paths.compactMap { PublicID(EarlySubmission.id($0)) }))
      }
      // The files of the second one become whole without a request, so that only a round finds it.
      for (id, clip) in zip(posts[1].uploads, EarlySubmission.clips) {
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
    let setting = RunningAPI.Setting.observing { blobs in
      blobs.onPrepare = { blob in
        guard slow.contains(blob.hash) else { return }
        let count = started.withLock { count in
          count += 1
          return count
        }
        if count == 3 { waiting.fulfil(()) }
        bucket.wait()
      }
    }
    try await RunningAPI.with(setting) { api in
      var posts: [String] = []
      for index in 0..<3 {
        let clips = [boxedClip(seed: UInt8(index)), boxedClip(seed: UInt8(index + 10))]
        let early = try await EarlySubmission(api, clips: clips, key: "\(index)")
        posts.append(try early.post)
        for (path, clip) in zip(early.paths, clips) { _ = try await UploadTests.send(clip, at: 0, to: path, api) }
      }
      await waiting.value
      #expect(try idleTransactions(api.url) == 0)
      // The photo is submitted before its bytes, too, and takes the last place.
      let path = try await EarlySubmission.create(PhotoSubmissionTests.jpeg, api)
      let submitted = try await request(
        "POST", "/v1/posts", port: api.port, headers: [("Content-Type", "application/json")],
        body: Array(#"{"kind":"photo","author":"ada","photo":{"upload":"\#(EarlySubmission.id(path))"}}"#.utf8))
      let photo = try #require(submitted.json["id"].text)
      _ = try await UploadTests.send(PhotoSubmissionTests.jpeg, at: 0, to: path, api)
      _ = try await api.read(photo) { $0["job"] != .null }
      for post in posts { #expect(try await api.get("/v1/posts/\(post)").json["job"] == .null) }
      #expect(try idleTransactions(api.url) == 0)
      bucket.open()
      for post in posts { _ = try await api.read(post) { $0["job"] != .null } }
    }
  }
}
