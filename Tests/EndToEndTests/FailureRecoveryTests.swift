import Definitions
import Glibc
import HTTPClient
import MediaFixtures
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing
import WaitTesting

@Suite("Recovery from failures", .tags(.process), .timeLimit(.minutes(60)))
struct FailureRecoveryTests {
  @Test("a service whose programs are removed or replaced after its start goes on with its first ones")
  func upgrade() async throws {
    let programs = try TemporaryFolder(prefix: "take5-programs")
    for path in [Take5Binary.path, Take5Binary.mediaPath] {
      let copy = try await Take5Command.run([path, programs.path], program: "/bin/cp")
      try #require(copy.status == 0, "\(copy.errors)")
    }
    let (program, media) = ("\(programs.path)/take5", "\(programs.path)/take5-media")
    let service = try await Service(program: program)
    // Before the first job, which starts the first media process.
    try #require(unlink(media) == 0 && unlink(program) == 0)
    let post = try await submit(to: service)
    #expect(await service.process.waitForLog("post published"), "\(service.process.log)")
    try await expectCompletedOnce(post, service)
    #expect(try await service.stop() == 0)

    let copy = try await Take5Command.run([Take5Binary.path, programs.path], program: "/bin/cp")
    try #require(copy.status == 0, "\(copy.errors)")
    let serve = try await Take5Command.run(
      ["serve", "--listen", "127.0.0.1:0", "--data", "\(programs.path)/data"], program: program)
    #expect(serve.status == 74)
    #expect(serve.errors.contains(media))
    #expect(access("\(programs.path)/data", F_OK) != 0)
  }

  @Test("media processes that are killed from outside do not use attempts of the job")
  func mediaProcessKilled() async throws {
    let service = try await Service(workers: 1, EmptyStore.withoutLooks())
    await service.process.whenItLogs("composing", times: 4) { signalMedia(of: $0, SIGKILL) }
    let post = try await submit(to: service)
    #expect(await service.process.waitForLog("post published"), "\(service.process.log)")
    #expect(service.process.log.split(separator: "an attempt was interrupted").count == 5)
    try await expectCompletedOnce(post, service)
    let job = try #require(try await service.post(post).job)
    #expect(try JSON.decode(JobResponse.self, from: await service.get(job.url).body).attempt == 1)
    #expect(try await service.count("SELECT count(*) FROM media_crash") == 0)
    #expect(try await service.stop() == 0)
  }

  @Test("when several workers are killed with their jobs, no job is blamed and all complete once")
  func rollingKills() async throws {
    let service = try await Service(workers: 0)
    let posts = [try await submit(to: service), try await submit(to: service)]
    for _ in 0..<5 {
      let worker = try await service.worker(["--lease", "1", "--slots", "2"], whenItLogs: "composing", times: 2) {
        kill($0, SIGKILL)
      }
      #expect(await worker.wait() == nil)
    }
    let last = try await service.worker(["--lease", "1", "--slots", "2"])
    for post in posts { #expect(await last.waitForLog("post published"), "\(post): \(last.log)") }
    try await service.waitForJobs()
    for post in posts { #expect(try await service.post(post).status == .ready) }
    #expect(try await service.count("SELECT max(attempt)::int FROM job_done WHERE kind = 'post'") == 1)
    // The sources and the outputs of each.
    #expect(try await service.count("SELECT count(*) FROM asset_set WHERE retired_at IS NULL") == 4)
    await last.send(signal: SIGTERM)
    #expect(await last.wait() == 0)
    try await service.stop()
  }

  @Test("a signal to the process group does not count against the media, and the job continues")
  func groupSignal() async throws {
    let service = try await Service(workers: 1, EmptyStore.withoutLooks())
    await service.process.whenItLogs("composing") { process in
      for signal in [SIGINT, SIGTERM] { signalMedia(of: process, signal) }
    }
    let post = try await submit(to: service)
    #expect(await service.process.waitForLog("post published"), "\(service.process.log)")
    #expect(try await service.count("SELECT attempt::int FROM job_done WHERE kind = 'post'") == 1)
    try await expectCompletedOnce(post, service)
    try await service.stop()
  }

  @Test("after an immediate shutdown of PostgreSQL during a job, the server restarts and the job completes once")
  func databaseRestarted() async throws {
    let service = try await Service(workers: 1, ["--lease", "3"])
    // SIGQUIT is an immediate shutdown: without a checkpoint, all sessions end.
    await service.process.whenItLogs("composing") { process in
      for postmaster in RunningTake5.children(of: process, named: "-D") { kill(postmaster, SIGQUIT) }
    }
    let post = try await submit(to: service)
    #expect(await service.process.waitForLog("restarting it"))
    #expect(await service.process.waitForLog("post published"), "\(service.process.log)")
    try await expectCompletedOnce(post, service)
    #expect(try await service.stop() == 0)
  }

  @Test("a worker that is stopped completes its job")
  func drain() async throws {
    // The worker leaves a first look that it has not claimed.
    let service = try await Service(workers: 0, EmptyStore.withoutLooks())
    let worker = try await service.worker()
    await worker.whenItLogs("composing") { kill($0, SIGTERM) }
    let post = try await submit(to: service)
    #expect(await worker.wait() == 0)
    #expect(worker.log.contains("post published"))
    try await expectCompletedOnce(post, service)
    try await service.stop()
  }

  private func submit(to service: Service) async throws -> PublicID {
    // Large frames, so that the encoder runs long enough.
    let front = try Clips.write(
      MarkedClip(.red, width: 1080, height: 1920, tone: .init(440)), "front.mp4", in: service.folder)
    let back = try Clips.write(
      MarkedClip(.blue, width: 1080, height: 1920, tone: .init(1000)), "back.mp4", in: service.folder)
    return try await service.submitted(front: front, back: back).id
  }

  /// Expects one asset set and the source set, one file per blob that is not inline, and one completed job.
  private func expectCompletedOnce(_ id: PublicID, _ service: Service) async throws {
    // A first look may end after the outputs are published.
    try await service.waitForJobs()
    let post = try await service.post(id)
    #expect(post.status == .ready)
    #expect(post.assets.count == 9)
    #expect(post.job?.state == .completed)
    #expect(try await service.count("SELECT count(*) FROM asset_set WHERE retired_at IS NULL") == 2)
    #expect(try await service.count("SELECT count(*) FROM job_done WHERE kind = 'post'") == 1)
    let outside = try await service.count("SELECT count(*) FROM blob WHERE inline_content IS NULL")
    #expect(try service.blobFiles() == outside)
  }
}

/// Sends a signal to the child of a fork server of a service or a worker once it works on its job: its processor time
/// grows, which that of the namespace's init does not.
func signalMedia(of process: Int32, _ signal: Int32) {
  let deadline = Deadline("a child that works")
  while true {
    do { try deadline.check() } catch { Issue.record(error); return }
    let servers = RunningTake5.children(of: process, named: "take5-media")
    if servers.isEmpty { return }
    for child in servers.flatMap({ RunningTake5.children(of: $0, named: "take5-media") })
    where RunningTake5.processorTicks(of: child) ?? 0 >= 5 {
      kill(child, signal)
      return
    }
    sched_yield()
  }
}
