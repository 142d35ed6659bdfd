import Glibc
import HTTPClient
import HTTPTesting
import MediaFixtures
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing
import WaitTesting

@Suite("Unmounted blob folder", .tags(.process), .serialized, .timeLimit(.minutes(60)))
struct UnmountedStoreTests {
  private func moment(_ service: Service) async throws -> PostResponse {
    let front = try Clips.write(Clips.front, "front.mp4", in: service.folder)
    let back = try Clips.write(Clips.back, "back.mp4", in: service.folder)
    let moment = try await service.submitted(front: front, back: back)
    try #require(await service.process.waitForLog("post published"), "\(service.process.log)")
    return try await service.post(moment.id)
  }

  private func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  @Test("commands refuse a folder of blobs that is empty or of another store, and write nothing in it")
  func refused() async throws {
    let service = try await Service()
    _ = try await moment(service)
    try await service.stop()
    let (blobs, away) = ("\(service.data)/blobs", "\(service.folder.path)/away")
    #expect(rename(blobs, away) == 0)
    try Folder.make(blobs)
    let access = ["--data", service.data]
    for command in [["verify"], ["gc"], ["reprocess", "--local", "--force"]] {
      let refused = try await Take5Command.run(command + access)
      try #require(refused.status == 74, "\(command): \(refused.output)\(refused.errors)")
      #expect(refused.errors.contains("mount") && refused.errors.contains("--adopt"), "\(refused.errors)")
    }
    #expect(try Folder.names(in: blobs).isEmpty)
    // The folder is missing, and then it belongs to another store.
    #expect(rmdir(blobs) == 0)
    #expect(try await Take5Command.run(["verify"] + access).status == 74)
    #expect(!exists(blobs))
    try Folder.make(blobs)
    try Descriptor(writing: "\(blobs)/store-id", replacing: false).write(
      Array("01939f2d-11aa-7b07-a3c1-90f4e2d6b358\n".utf8))
    let another = try await Take5Command.run(["gc"] + access)
    #expect(another.status == 74 && another.errors.contains("01939f2d-11aa-7b07-a3c1-90f4e2d6b358"))
    // A command that uses no blobs does not open the folder.
    #expect(try await Take5Command.run(["keys", "list"] + access).status == 0)

    try Folder.remove(blobs)
    #expect(rename(away, blobs) == 0)
    #expect(try await Take5Command.run(["verify"] + access).status == 0)
  }

  @Test("a service and a worker that start before the folder is mounted wait for it, and write nothing in its place")
  func comes() async throws {
    let first = try await Service()
    let composed = try #require(try await moment(first).assets[.composed])
    try await first.stop()
    let (blobs, away) = ("\(first.data)/blobs", "\(first.data)/away")
    #expect(rename(blobs, away) == 0)
    try Folder.make(blobs)

    let service = try await Service(workers: 0, in: first.folder)
    let worker = try await service.worker()
    for process in [service.process, worker] {
      #expect(await process.waitForLog("waiting for them"), "\(process.log)")
    }
    #expect(await worker.waitForLog("worker started"), "\(worker.log)")
    #expect(try await service.api().get("/v1/posts").status == 200)
    let media = try await service.api().get(composed.url)
    #expect(media.status == 503 && media["type"]?.text == "urn:take5:problem:storage_unavailable")
    #expect(media.response.headers["retry-after"] != nil && !media.response.text.contains(blobs))
    #expect(try Folder.names(in: blobs).isEmpty)

    #expect(rmdir(blobs) == 0)
    #expect(rename(away, blobs) == 0)
    try await until { try await service.api().get("/readyz").status == 200 }
    #expect(try await service.api().get(composed.url).status == 200)
    #expect(try await service.count("SELECT count(*)::int FROM blob_damage") == 0)
    // The worker has the blobs as well.
    let photo = try StoreCommandTests.photo((9, 9, 200))
    let submitted = try await service.api().submit(
      "/v1/posts", [("post", Array(#"{"kind":"photo","author":"ada"}"#.utf8)), ("photo", photo)])
    #expect(submitted["status"]?.text == "ready", "\(worker.log)")
    await worker.send(signal: SIGTERM)
    #expect(await worker.wait() == 0)
    #expect(try await service.stop() == 0)
  }

  @Test("verify --adopt accepts the folder and reports what is missing")
  func adopted() async throws {
    let service = try await Service()
    _ = try await moment(service)
    try await service.stop()
    let access = ["--data", service.data]
    try Folder.remove("\(service.data)/blobs")
    let adopted = try await Take5Command.run(["verify", "--adopt"] + access)
    #expect(adopted.status == 1 && adopted.output.contains("source_missing"), "\(adopted.output)\(adopted.errors)")
    // From now on the folder belongs to the store.
    #expect(try await Take5Command.run(["verify"] + access).status == 1)
    #expect(try await Take5Command.run(["gc"] + access).status == 0)
  }

  @Test("when the folder is unmounted under a running service, storage is unavailable and nothing counts as lost")
  func goesAway() async throws {
    let service = try await Service()
    let post = try await moment(service)
    let composed = try #require(post.assets[.composed])
    let (blobs, away) = ("\(service.data)/blobs", "\(service.data)/away")
    #expect(try await service.api().get("/readyz").status == 200)
    #expect(rename(blobs, away) == 0)
    // Like a mount point without a file system.
    try Folder.make(blobs)
    let ready = try await service.api().get("/readyz")
    #expect(ready.status == 503 && ready["type"]?.text == "urn:take5:problem:storage_unavailable")
    let media = try await service.api().get(composed.url)
    #expect(media.status == 503 && media["type"]?.text == "urn:take5:problem:storage_unavailable")
    #expect(media.response.headers["retry-after"] != nil)
    let submitted = try await service.api().submit(
      "/v1/posts",
      [("post", Array(#"{"kind":"photo","author":"ada"}"#.utf8)), ("photo", try StoreCommandTests.photo((9, 9, 200)))])
    #expect(submitted.status == 503 && submitted["type"]?.text == "urn:take5:problem:storage_unavailable")
    // The reason is in the log, and not in the response.
    #expect(await service.process.waitForLog(blobs))
    #expect(service.process.log.contains("a request met an outage") && !submitted.response.text.contains(blobs))
    #expect(try Folder.names(in: blobs).isEmpty)

    #expect(rmdir(blobs) == 0)
    #expect(rename(away, blobs) == 0)
    #expect(try await service.api().get("/readyz").status == 200)
    #expect(try await service.api().get(composed.url).status == 200)
    #expect(try await service.count("SELECT count(*)::int FROM blob_damage") == 0)
    try await service.stop()
  }
}
