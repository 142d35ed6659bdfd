import Glibc
import HTTPClient
import MediaFixtures
import Model
import PostgresTesting
import Take5Testing
import Testing

@Suite("Owner of the embedded PostgreSQL", .tags(.process), .serialized, .timeLimit(.minutes(60)))
struct PostgresOwnerTests {
  /// The maximum number of attempts during a takeover; each waits for the database.
  private static let maxTries = 10

  @Test("a service that started after a command takes over the database when the command stops")
  func commandBefore() async throws {
    let folder = try TemporaryFolder(prefix: "take5-owner")
    let (front, back) = try Self.clips(in: folder)
    let first = try await Service(workers: 0, in: folder)
    #expect(try await first.stop() == 0)
    // The first line shows that the command has its database.
    let command = try RunningTake5()
    let line = try await command.start([
      "database", "--data", first.data, "--", "sh", "-c", "echo started; exec sleep 3600",
    ])
    #expect(line == "started")
    #expect(await Self.owns(command))

    let service = try await Service(workers: 1, in: folder)
    #expect(await !Self.owns(service.process))
    #expect(try await service.submit(front: front, back: back).status == 202)
    await command.send(signal: SIGINT)
    _ = await command.wait()

    let response = try await Self.submit(front, back, to: service)
    #expect(response.status == 202, "\(String(decoding: response.body, as: UTF8.self))")
    #expect(await Self.owns(service.process))
    #expect(await service.process.waitForLog("post published"), "\(service.process.log)")
    #expect(try await service.stop() == 0)
  }

  @Test("a worker takes over when the service that owns the database is killed, and commands start no second server")
  func ownerKilled() async throws {
    let folder = try TemporaryFolder(prefix: "take5-owner")
    let (front, back) = try Self.clips(in: folder)
    let service = try await Service(workers: 0, in: folder)
    let worker = try await service.worker()
    let owner = try #require(await service.process.process)
    await worker.whenItLogs("composing") { _ in kill(owner, SIGKILL) }
    let post = try await service.submitted(front: front, back: back).id
    #expect(await service.process.wait() == nil)

    let list = try await Take5Command.run(["jobs", "list", "--data", service.data])
    #expect(list.status == 0, "\(list.errors)")
    let isOwner = await Self.owns(worker)
    try #require(isOwner)
    #expect(await worker.waitForLog("post published"), "\(worker.log)")

    let next = try await Service(workers: 0, in: folder)
    #expect(try await next.post(post).status == .ready)
    await worker.send(signal: SIGTERM)
    #expect(await worker.wait() == 0)
    let response = try await Self.submit(front, back, to: next)
    #expect(response.status == 202, "\(String(decoding: response.body, as: UTF8.self))")
    #expect(try await next.stop() == 0)
  }

  /// Submits until the submission is accepted; until then, the response must be 503 with Retry-After.
  private static func submit(_ front: String, _ back: String, to service: Service) async throws -> HTTPResponse {
    var response = try await service.submit(front: front, back: back)
    for _ in 1..<maxTries where response.status != 202 {
      #expect(response.status == 503 && response.headers["retry-after"] != nil)
      response = try await service.submit(front: front, back: back)
    }
    return response
  }

  private static func owns(_ running: RunningTake5) async -> Bool {
    guard let process = await running.process else { return false }
    return !RunningTake5.children(of: process, named: "-D").isEmpty
  }

  private static func clips(in folder: TemporaryFolder) throws -> (front: String, back: String) {
    (try Clips.write(Clips.front, "front.mp4", in: folder), try Clips.write(Clips.back, "back.mp4", in: folder))
  }
}
