import Glibc
import HTTPClient
import MediaFixtures
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing

/// Where root may mount: the folder of blobs is a file system of its own, which is full, read-only or gone for a while.
@Suite(
  "A storage that fails for a while", .tags(.process), .serialized, .timeLimit(.minutes(10)),
  .enabled("a file system can be mounted by root alone") { MountedFolder.isAllowed })
struct StorageOutageTests {
  enum Outage: CaseIterable {
    case full, readOnly, gone
  }

  @Test(
    "what was accepted waits, pauses the queue, costs no attempt, and is ready once the storage is back",
    arguments: Outage.allCases)
  func waiting(_ outage: Outage) async throws {
    let service = try await Service(workers: 0, ["--least-free", "0"])
    let disk = try MountedFolder("\(service.data)/blobs", megabytes: 96)
    let front = try Clips.write(MarkedClip(.red, tone: .init(440)), "front.mp4", in: service.folder)
    let back = try Clips.write(MarkedClip(.blue, tone: .init(1000)), "back.mp4", in: service.folder)
    let worker = try await service.worker()
    #expect(await worker.waitForLog("worker started"))
    // It stands still, so that it meets the outage and not the post.
    await worker.send(signal: SIGSTOP)
    let post = try await service.submitted(front: front, back: back).id
    switch outage {
    case .full: try disk.fill()
    case .readOnly: try disk.forbidWriting()
    case .gone: try disk.hide()
    }
    await worker.send(signal: SIGCONT)
    // More often than a job has attempts.
    for _ in 0..<6 { #expect(await worker.waitForLog("an attempt could not be made"), "\(worker.log)") }
    #expect(worker.log.contains("the queue is paused"))
    #expect(try await service.post(post).status == .processing)
    // Whose status a submission would have.
    #expect(try await service.get("/readyz").status == (outage == .full ? 507 : 503))
    switch outage {
    case .full: disk.empty()
    case .readOnly: try disk.allowWriting()
    case .gone: try disk.show()
    }
    #expect(await worker.waitForLog("post published"), "\(worker.log)")
    #expect(await worker.waitForLog("the queue goes on"), "\(worker.log)")
    #expect(try await service.post(post).status == .ready)
    #expect(try await service.count("SELECT attempt::int FROM job_done") == 1)
    #expect(try await service.get("/readyz").status == 200)
    await worker.send(signal: SIGTERM)
    #expect(await worker.wait() == 0)
    try await service.stop()
  }
}
