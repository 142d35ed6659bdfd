import Glibc
import HTTPClient
import HTTPTesting
import MediaFixtures
import Model
import Platform
import Postgres
import PostgresTesting
import Take5Testing
import Testing
import WaitTesting

/// A service and a worker that share a database and a bucket, and no folder. `make test-s3` starts the object store.
@Suite(
  "Blobs in a bucket", .tags(.process), .serialized,
  .enabled(if: getenv("TAKE5_TEST_S3") != nil, "TAKE5_TEST_S3 is not set"),
  .timeLimit(.minutes(60)))
struct BucketTests {
  /// The URL of a store of its own in the bucket.
  static func url() -> String {
    String(cString: getenv("TAKE5_TEST_S3")).replacing("/store?", with: "/\(PublicID.now())?")
  }

  /// The keys of the store, for programs, whose environment is theirs alone.
  static func keys() -> [String: String] {
    Dictionary(
      uniqueKeysWithValues: ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"].map { ($0, String(cString: getenv($0))) })
  }

  /// The files of a data folder that are copies of objects.
  private static func copies(in data: String) throws -> [String] {
    let cache = "\(data)/blob-cache"
    return try Folder.names(in: cache).filter { $0.count == 2 }.flatMap { shard in
      try Folder.names(in: "\(cache)/\(shard)").map { "\(cache)/\(shard)/\($0)" }
    }
  }

  @Test("a moment is composed by a worker with another data folder, played, reprocessed, verified and deleted")
  func moment() async throws {
    try await withDatabase { database in
      let bucket = Self.url()
      let more = ["--database", database.connectionString, "--blobs", bucket]
      let service = try await Service(workers: 0, more, environment: Self.keys())
      let far = try TemporaryFolder()
      let worker = try RunningTake5()
      _ = try await worker.start(
        ["worker", "--data", "\(far.path)/data"] + more, environment: Self.keys(), printsFirstLine: false)
      #expect(await worker.waitForLog("worker started"), "\(worker.log)")
      let api = try service.api()
      let ada = try await api.phone(of: "ada")
      let post = try await ada.submit(
        "/v1/posts",
        [
          ("front", try TemporaryFile.bytes(of: Clips.front.write())),
          ("back", try TemporaryFile.bytes(of: Clips.back.write())), ("post", Array("{}".utf8)),
        ])
      #expect(post["status"]?.text == "ready", "\(service.process.log) \(worker.log)")
      let url = try #require(post["assets", "composed", "url"]?.text)
      let video = try await ada.get(url, [("Range", "bytes=4-7")])
      #expect(video.status == 206 && video.response.body == Array("ftyp".utf8))
      // A verification reads the objects, whatever becomes of the copies on this machine.
      let copies = try Self.copies(in: service.data)
      for copy in copies { #expect(truncate(copy, 10) == 0) }
      let whole = try await Take5Command.run(
        ["verify", "--deep", "--data", service.data] + more, environment: Self.keys())
      #expect(!copies.isEmpty && whole.status == 0, "\(whole.output) \(whole.errors)")
      for copy in copies { #expect(unlink(copy) == 0) }
      for command in [["verify", "--deep"], ["reprocess", "--kind", "take5", "--force", "--local"], ["gc"]] {
        let run = try await Take5Command.run(command + ["--data", service.data] + more, environment: Self.keys())
        #expect(run.status == 0, "\(command) \(run.output) \(run.errors)")
      }
      #expect(try await ada.delete("/v1/posts/\(try #require(post["id"]?.text))") == 204)
      await worker.send(signal: SIGTERM)
      #expect(await worker.wait() == 0)
      #expect(try await service.stop() == 0)
      let verified = try await Take5Command.run(
        ["verify", "--json", "--data", service.data] + more, environment: Self.keys())
      #expect(verified.status == 0 && verified.output.contains("\"blobs\":0"), "\(verified.output)")
      // Another bucket does not belong to the database.
      let refused = try await Take5Command.run(
        ["verify", "--data", service.data, "--database", database.connectionString, "--blobs", Self.url()],
        environment: Self.keys())
      #expect(refused.status == 74 && refused.errors.contains("store-id"), "\(refused)")
    }
  }

  @Test("a source whose copy on the machine of a worker has rotted is read from the bucket again, and is kept")
  func rottenCopy() async throws {
    try await withDatabase { database in
      let more = ["--database", database.connectionString, "--blobs", Self.url()]
      let service = try await Service(workers: 0, more, environment: Self.keys())
      let (front, back) = (
        try Clips.write(Clips.front, "front.mp4", in: service.folder),
        try Clips.write(Clips.back, "back.mp4", in: service.folder)
      )
      let post = try await service.submitted(front: front, back: back)
      let copies = try Self.copies(in: service.data)
      #expect(copies.count == 2)
      for copy in copies {
        #expect(chmod(copy, 0o600) == 0)
        let file = try #require(fopen(copy, "r+"))
        fputs(String(repeating: "rotten ", count: 1000), file)
        fclose(file)
      }
      let worker = try RunningTake5()
      _ = try await worker.start(
        ["worker", "--data", service.data] + more, environment: Self.keys(), printsFirstLine: false)
      var stored = post
      let deadline = Deadline("the end of the job", within: .seconds(300))
      while stored.status == .processing, let job = post.job {
        try deadline.check()
        _ = try await service.get("\(job.url)?wait=60")
        stored = try await service.post(post.id)
      }
      #expect(stored.status == .ready, "\(stored.reasons) \(worker.log)")
      await worker.send(signal: SIGTERM)
      #expect(await worker.wait() == 0)
      #expect(try await service.stop() == 0)
      let verified = try await Take5Command.run(
        ["verify", "--deep", "--data", service.data] + more, environment: Self.keys())
      #expect(verified.status == 0, "\(verified.output)")
    }
  }

  @Test(
    "clients are redirected to the bucket, which sends the right type and ranges, and who may not see a post is not")
  func redirect() async throws {
    try await withDatabase { database in
      let service = try await Service(
        workers: 1, ["--database", database.connectionString, "--blobs", Self.url(), "--serve-media", "redirect"],
        environment: Self.keys())
      let (ada, eve) = (try await service.api().phone(of: "ada"), try await service.api().phone(of: "eve"))
      let post = try await ada.submit(
        "/v1/posts",
        [
          ("front", try TemporaryFile.bytes(of: Clips.front.write())),
          ("back", try TemporaryFile.bytes(of: Clips.back.write())),
          ("post", Array(#"{"visibility":"private"}"#.utf8)),
        ])
      let path = try #require(post["assets", "composed", "url"]?.text)
      let found = try await ada.get(path + (path.contains("?") ? "&" : "?") + "download=1")
      #expect(found.status == 307)
      let target = try #require(found.response.headers["location"])
      let parts = target.split(separator: "/", maxSplits: 2)
      let store = HTTPClient(server: try #require(ServerAddress(url: "http://\(parts[1])")))
      let file = try await onThread("client") { try store.get("/\(parts[2])") }
      #expect(file.status == 200 && file.headers["content-type"] == "video/mp4")
      #expect(file.headers["content-disposition"] == #"attachment; filename="composed.mp4""#)
      let range = HTTPRequest("GET", "/\(parts[2])", headers: [("Range", "bytes=4-7")])
      let part = try await onThread("client") { try store.send(range) }
      #expect(part.status == 206 && part.body == Array("ftyp".utf8))
      // A URL that was changed is not signed.
      #expect(try await onThread("client") { try store.get("/\(parts[2])0") }.status == 403)
      #expect(try await eve.get(String(path.prefix { $0 != "?" })).status == 404)
      // The bytes of an asset do not change: the service says so itself.
      let tag = try await ada.send("HEAD", path).response.headers["etag"] ?? ""
      #expect(try await ada.get(path, [("If-None-Match", tag)]).status == 304)
      // What is in the database comes from the service.
      #expect(try await ada.get(try #require(post["assets", "thumbnail.front", "url"]?.text)).status == 200)
      #expect(try await service.stop() == 0)
    }
  }
}
