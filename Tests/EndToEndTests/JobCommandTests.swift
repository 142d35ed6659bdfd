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
import WaitTesting

@Suite("Job commands", .tags(.process), .timeLimit(.minutes(60)))
struct JobCommandTests {
  private func service(submissions: Int, workers: Int = 0) async throws -> (Service, [String], posts: [PublicID]) {
    let service = try await Service(workers: workers)
    let front = try Clips.write(Clips.front, "front.mp4", in: service.folder)
    let back = try Clips.write(Clips.back, "back.mp4", in: service.folder)
    var posts: [PublicID] = []
    for _ in 0..<submissions { posts.append(try await service.submitted(front: front, back: back).id) }
    return (service, ["--data", service.data], posts)
  }

  @Test("a filter cancels the number of jobs that is asked for, with their posts")
  func cancelling() async throws {
    let (service, access, posts) = try await service(submissions: 3)
    let cancel = ["jobs", "cancel", "--author", "ada", "--kind", "post"] + access
    let refused = try await Take5Command.run(cancel)
    #expect(refused.status == 64 && refused.errors.contains("3 jobs") && refused.errors.contains("--all"))
    let dry = try await Take5Command.run(cancel + ["--dry-run"])
    #expect(dry.status == 0 && dry.output.contains("3 of 3"))
    #expect(
      try await Take5Command.run(["jobs", "cancel", "--author", "bob", "--all"] + access).output == "no jobs found\n")
    let one = try await Take5Command.run(cancel + ["--limit", "1", "--json"])
    #expect(one.output == "{\"matched\":3,\"changed\":1}\n")
    #expect(try await service.post(posts[2]).status == .failed)
    #expect(try await service.post(posts[1]).status == .processing)
    #expect(try await Take5Command.run(cancel + ["--all"]).output.contains("2 jobs are cancelled"))
    for post in posts { #expect(try await service.post(post).status == .failed) }
    let list = try await Take5Command.run(
      ["jobs", "list", "--state", "cancelled,dead", "--created-after", "1h"] + access)
    #expect(list.output.split(separator: "\n").count == 4 && list.output.hasPrefix("JOB "))
    #expect(
      try await Take5Command.run(["jobs", "list", "--created-before", "1h"] + access).output == "no jobs found\n")
    try await service.stop()
  }

  @Test("a filter retries dead jobs, and their posts are processing again")
  func retrying() async throws {
    let (service, access, posts) = try await service(submissions: 2)
    _ = try await service.count(
      """
      WITH gone AS (
        DELETE FROM job WHERE kind = 'post' RETURNING id, public_id, queue, kind, priority, max_attempts, deadline_seconds, author,
          definition, request, created_at, arguments),
      dead AS (
        INSERT INTO job_dead (id, public_id, queue, kind, priority, attempt, max_attempts, lost, deadline_seconds,
                              author, definition, request, created_at, last_error, arguments)
        SELECT id, public_id, queue, kind, priority, max_attempts, max_attempts, 0, deadline_seconds, author,
          definition, request, created_at, 'the disk was full', arguments
        FROM gone),
      failed AS (UPDATE post SET status = 'failed')
      SELECT count(*) FROM gone
      """)
    let stats = try await Take5Command.run(["jobs", "stats"] + access)
    #expect(stats.output.contains("dead") && stats.output.contains("no workers"))
    let none = try await Take5Command.run(["jobs", "retry", "--error", "memory", "--all"] + access)
    #expect(none.output == "no jobs found\n")
    let retried = try await Take5Command.run(["jobs", "retry", "--error", "DISK", "--all"] + access)
    #expect(retried.status == 0 && retried.output.contains("2 jobs are available again"), "\(retried.errors)")
    for post in posts { #expect(try await service.post(post).status == .processing) }
    #expect(try await Take5Command.run(["jobs", "retry", "--state", "completed", "--all"] + access).status == 64)
    let json = try await Take5Command.run(["jobs", "stats", "--json"] + access)
    let report = try JSONDecoder().decode(API.Value.self, from: Data(json.output.utf8))
    #expect(report["depths"]?.items.first?["state"]?.text == "available")
    try await service.stop()
  }

  @Test("the statistics and the metrics of the service say what each worker has done within the last hour")
  func figuresByWorker() async throws {
    let (service, access, _) = try await service(submissions: 1)
    let worker = try await service.worker()
    #expect(await worker.waitForLog("post published"), "\(worker.log)")
    let process = try #require(await worker.process)
    var figures: API.Value?
    let deadline = Deadline("a heartbeat with figures")
    while figures == nil {
      try deadline.check()
      // The next heartbeat has them.
      let stats = try await Take5Command.run(["jobs", "stats", "--json"] + access)
      let value = try JSONDecoder().decode(API.Value.self, from: Data(stats.output.utf8))
      figures = value["workers"]?.items.first { $0["process"]?.number == Int(process) }?["last_hour"]?.items
        .first { $0["kind"]?.text == "post" }
    }
    #expect(figures?["completed"]?.number == 1, "\(String(describing: figures))")
    #expect(figures?["failed"]?.number == 0 && figures?["p95_seconds"] == figures?["p50_seconds"])
    #expect(figures?["lost"]?.number == 0)
    let text = try await Take5Command.run(["jobs", "stats"] + access).output
    #expect(text.contains("LAST HOUR OF WORKER") && text.contains("  SLOTS  "), "\(text)")
    let metrics = String(decoding: try await service.get("/metrics").body, as: UTF8.self).split(separator: "\n")
    let label = "process=\"\(process)\""
    #expect(metrics.contains { $0.hasPrefix("take5_worker_attempts{") && $0.contains(label) && $0.hasSuffix(" 1") })
    #expect(metrics.contains { $0.hasPrefix("take5_worker_attempt_seconds{") && $0.contains(label) })
    await worker.send(signal: SIGTERM)
    _ = await worker.wait()
    try await service.stop()
  }

  @Test("a worker's metrics describe its jobs and the queue")
  func workerMetrics() async throws {
    let (service, _, _) = try await service(submissions: 1)
    let worker = try await service.worker(["--metrics", "127.0.0.1:0"])
    #expect(await worker.waitForLog("metrics"))
    let line = worker.log.split(separator: "\n").first { $0.contains("/metrics") } ?? ""
    let port = try #require(UInt16(line.split(separator: ":").last?.prefix { $0.isNumber } ?? ""), "\(line)")
    #expect(await worker.waitForLog("post published"))
    let response = try await API(port: port).get("/metrics")
    let text = String(decoding: response.response.body, as: UTF8.self)
    for name in [
      "take5_workers{state=\"alive\"} 1", "take5_job_wait_seconds_count{kind=\"post\"} 1", "take5_xmin_age_seconds",
      "take5_table_dead_rows", "take5_database_up 1", "take5_sandbox_wall{wall=\"limits\"} 1",
    ] {
      #expect(text.contains(name), "\(name)")
    }
    await worker.send(signal: SIGTERM)
    _ = await worker.wait()
    try await service.stop()
  }
}
