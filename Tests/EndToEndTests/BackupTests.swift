import FoundationEssentials
import Glibc
import HTTPClient
import HTTPTesting
import MediaFixtures
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing

/// The procedure of docs/backup.md, while the service writes.
@Suite("Backups", .tags(.process), .serialized, .timeLimit(.minutes(15)))
struct BackupTests {
  private static let programs = ["PATH": "/usr/bin:/bin"]

  private func photo(_ service: Service, _ color: (UInt8, UInt8, UInt8)) async throws -> String {
    let response = try await service.api().submit(
      "/v1/posts",
      [
        ("post", Array(#"{"kind":"photo","author":"ada"}"#.utf8)), ("photo", try StoreCommandTests.photo(color)),
      ])
    #expect(response["status"]?.text == "ready", "\(response.status)")
    return try #require(response["id"]?.text)
  }

  private func run(_ arguments: [String], in service: Service) async throws {
    let command = try await Take5Command.run(arguments, environment: Self.programs)
    #expect(command.status == 0, "\(arguments): \(command.output)\(command.errors)")
  }

  private func dump(_ service: Service, to path: String) async throws {
    try await run(
      [
        "database", "--data", service.data, "--", "pg_dump", "--format", "custom", "--exclude-table-data",
        "collection_hold", "--file", path,
      ], in: service)
  }

  private func copyBlobs(of service: Service, to folder: String) async throws {
    try Folder.make(folder)
    let copy = "cd '\(service.data)/blobs' && cp -a ?? store-id '\(folder)'"
    let ending = try await onThread("test-copy") { () throws in
      try ChildProcess(
        .init(path: "/bin/sh", arguments: ["-c", copy])
      ).wait()
    }
    #expect(ending == .exited(0))
  }

  private func restore(_ dump: String, into data: String) async throws -> Take5Command {
    let made = try await Take5Command.run(["init", "--empty", "--data", data], environment: Self.programs)
    #expect(made.status == 0, "\(made.errors)")
    return try await Take5Command.run(
      [
        "database", "--data", data, "--", "pg_restore", "--dbname", "take5", "--no-owner", "--exit-on-error", dump,
      ], environment: Self.programs)
  }

  @Test(
    "a dump and a later copy of the blobs restore a consistent store, although the service keeps writing and deleting")
  func restored() async throws {
    let service = try await Service(workers: 1)
    let front = try Clips.write(Clips.front, "front.mp4", in: service.folder)
    let back = try Clips.write(Clips.back, "back.mp4", in: service.folder)
    let moment = try await service.submitted(front: front, back: back)
    #expect(await service.process.waitForLog("post published"), "\(service.process.log)")
    let deleted = try await photo(service, (10, 200, 10))
    let (dump, data) = ("\(service.folder.path)/take5.dump", "\(service.folder.path)/restored")

    // From now on a client submits without a pause.
    let writing = Task {
      var count = 0
      while !Task.isCancelled {
        count += 1
        _ = try await photo(service, (UInt8(count % 256), 7, 7))
      }
      return count
    }
    try await run(["gc", "hold", "--data", service.data], in: service)
    try await self.dump(service, to: dump)
    // A post in the dump is deleted before the copy, and another post is created.
    #expect(try await service.api().delete("/v1/posts/\(deleted)") == 204)
    let later = try await photo(service, (10, 10, 200))
    try await copyBlobs(of: service, to: "\(data)/blobs")
    try await run(["gc", "release", "--data", service.data], in: service)
    writing.cancel()
    #expect(try await writing.value > 0)

    let restored = try await restore(dump, into: data)
    #expect(restored.status == 0, "\(restored.errors)")
    let collected = try await Take5Command.run(["gc", "--json", "--data", data])
    let report = try JSONDecoder().decode(API.Value.self, from: Data(collected.output.utf8))
    #expect(report["stray_files"]?["count"]?.number ?? 0 > 0, "\(collected.output)\(collected.errors)")
    let verified = try await Take5Command.run(["verify", "--deep", "--data", data])
    #expect(verified.status == 0, "\(verified.output)\(verified.errors)")

    // A service on the restored store returns the posts of the dump.
    let copy = try RunningTake5()
    let url = try await copy.start([
      "serve", "--listen", "127.0.0.1:0", "--slots", "0", "--data", data, "--log-format", "text",
    ])
    let client = HTTPClient(server: try #require(ServerAddress(url: url), "\(copy.log)"))
    let shown = try await onThread("test-client") { try client.get("/v1/posts/\(moment.id)") }
    let post = try JSON.decode(PostResponse.self, from: shown.body)
    #expect(post.status == .ready)
    let composed = try #require(post.assets[.composed])
    let media = try await onThread("test-client") { try client.get(composed.url) }
    #expect(media.status == 200 && media.body.count == composed.bytes)
    #expect(try await onThread("test-client") { try client.get("/v1/posts/\(deleted)").status } == 200)
    #expect(try await onThread("test-client") { try client.get("/v1/posts/\(later)").status } == 404)
    await copy.send(signal: SIGTERM)
    _ = await copy.wait()

    // The original store is consistent, and the blobs of the deleted post are collected.
    try await run(["gc", "--data", service.data], in: service)
    try await run(["verify", "--data", service.data], in: service)
    try await service.stop()
  }

  @Test("without a hold, the copy lacks blobs that were collected after the dump, and verify reports it")
  func withoutHold() async throws {
    let service = try await Service(workers: 1)
    let deleted = try await photo(service, (10, 200, 10))
    let (dump, data) = ("\(service.folder.path)/take5.dump", "\(service.folder.path)/restored")
    try await self.dump(service, to: dump)
    #expect(try await service.api().delete("/v1/posts/\(deleted)") == 204)
    try await run(["gc", "--data", service.data], in: service)
    try await copyBlobs(of: service, to: "\(data)/blobs")
    #expect(try await restore(dump, into: data).status == 0)
    let verified = try await Take5Command.run(["verify", "--data", data])
    #expect(verified.status == 1 && verified.output.contains("source_missing"), "\(verified.output)")
    try await service.stop()
  }
}
