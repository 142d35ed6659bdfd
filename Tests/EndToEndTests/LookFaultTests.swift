import Glibc
import HTTPClient
import MediaFixtures
import Model
import PostgresTesting
import Take5Testing
import Testing
import WaitTesting

@Suite("Faults around a first look", .tags(.process), .timeLimit(.minutes(60)))
struct LookFaultTests {
  @Test(
    "a worker that is killed between the first look and the outputs leaves neither half a set nor a second one",
    arguments: [
      "store.show_look.before", "store.show_look.after", "store.publish.before", "store.publish.after",
      "blob.link.after", "store.composition.after",
    ])
  func killed(failpoint: String) async throws {
    let service = try await Service(workers: 0)
    let post = try await submit(Clips.front, Clips.back, to: service)
    let worker = try RunningTake5()
    _ = try await worker.start(
      ["worker", "--data", service.data, "--lease", "2"], environment: ["TAKE5_FAILPOINTS": "\(failpoint)=kill"],
      printsFirstLine: false)
    #expect(await worker.wait() == nil)
    let next = try await service.worker()
    try await until { try await service.post(post).status == .ready }
    try await service.waitForJobs()
    #expect(try await service.post(post).assets.count == 9)
    #expect(try await count(.postPreviewed, service) <= 1)
    #expect(try await count(.postReady, service) == 1)
    await next.send(signal: SIGTERM)
    #expect(await next.wait() == 0)
    try await expectConsistent(service)
  }

  @Test("the cancellation of a composition takes the first look away")
  func cancelled() async throws {
    let service = try await Service(workers: 0)
    let (post, job, media) = try await seen(Clips.front, Clips.back, service)
    let cancelled = try await Take5Command.run(["jobs", "cancel", job, "--data", service.data])
    #expect(cancelled.status == 0, "\(cancelled.errors)")
    let failed = try await service.post(post)
    #expect(failed.status == .failed)
    #expect(failed.assets.isEmpty)
    #expect(try await service.get(media).status == 404)
    try await expectConsistent(service)
  }

  @Test("a rejection after a first look takes it away")
  func rejected() async throws {
    let service = try await Service(workers: 0)
    var back = try TemporaryFile.bytes(of: MarkedClip(.blue, codec: .hevc, tone: .init(1000)).write())
    // Behind the frames that a look shows.
    let start = back.count * 7 / 10
    for index in start..<start + 2000 { back[index] = 0xA5 }
    let (post, _, media) = try await seen(Clips.front, back, service)
    let worker = try await service.worker()
    try await until { try await service.post(post).status == .rejected }
    #expect(try await service.post(post).assets.isEmpty)
    try await until { try await service.get(media).status == 404 }
    await worker.send(signal: SIGTERM)
    #expect(await worker.wait() == 0)
    try await expectConsistent(service)
  }

  /// Submits a moment, has its first look made by a worker that makes nothing else, and returns the path of its image.
  private func seen(
    _ front: MarkedClip, _ back: [UInt8], _ service: Service
  ) async throws -> (post: PublicID, job: String, media: String) {
    let post = try await service.submitted(
      front: try Clips.write(front, "front.mp4", in: service.folder),
      back: try Clips.write(back, "back.mp4", in: service.folder))
    let worker = try await service.worker(["--slots", "0", "--look-slots", "1"])
    let waited = try await service.get("/v1/posts/\(post.id)?wait=50&for=look")
    let look = try JSON.decode(PostResponse.self, from: waited.body)
    #expect(look.status == .processing)
    #expect(look.assets.keys.contains(.thumbnailBack) && look.assets[.composed] == nil)
    let image = try #require(look.assets[.image]).url
    #expect(try await service.get(image).status == 200)
    await worker.send(signal: SIGTERM)
    #expect(await worker.wait() == 0)
    return (post.id, try #require(look.job?.url.split(separator: "/").last).description, image)
  }

  private func seen(
    _ front: MarkedClip, _ back: MarkedClip, _ service: Service
  ) async throws -> (post: PublicID, job: String, media: String) {
    try await seen(front, TemporaryFile.bytes(of: back.write()), service)
  }

  private func submit(_ front: MarkedClip, _ back: MarkedClip, to service: Service) async throws -> PublicID {
    try await service.submitted(
      front: try Clips.write(front, "front.mp4", in: service.folder),
      back: try Clips.write(back, "back.mp4", in: service.folder)
    ).id
  }

  private func count(_ kind: UserEvent.Kind, _ service: Service) async throws -> Int {
    try await service.count("SELECT count(*) FROM user_event WHERE kind = '\(kind.rawValue)'")
  }

  private func expectConsistent(_ service: Service) async throws {
    let verify = try await Take5Command.run(["verify", "--data", service.data, "--deep"])
    #expect(verify.status == 0, "\(verify.output)")
    #expect(try await service.stop() == 0)
  }
}
