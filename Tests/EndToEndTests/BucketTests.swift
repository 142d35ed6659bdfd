import Glibc
import HTTPTesting
import MediaFixtures
import Model
import Platform
import Postgres
import PostgresTesting
import Take5Testing
import Testing

/// A service and a worker that share a database and a bucket, and no folder. `make test-s3` starts the object store.
@Suite(
  "Blobs in a bucket", .tags(.process), .serialized,
  .enabled(if: getenv("TAKE5_TEST_S3") != nil, "TAKE5_TEST_S3 is not set"),
  .timeLimit(.minutes(10)))
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

  @Test("a moment is composed by a worker with another data folder, played, reprocessed, verified and deleted")
  func moment() async throws {
    try await withDatabase { database in
      let bucket = Self.url()
      let more = ["--database", database.connectionString, "--blobs", bucket]
      let service = try await Service(workers: 0, more, environment: Self.keys())
      let far = try TemporaryFolder()
      try Folder.make("\(far.path)/data")
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
      // Another bucket is not that of the database.
      let refused = try await Take5Command.run(
        ["verify", "--data", service.data, "--database", database.connectionString, "--blobs", Self.url()],
        environment: Self.keys())
      #expect(refused.status == 74 && refused.errors.contains("store-id"), "\(refused)")
    }
  }
}
