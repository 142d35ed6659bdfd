import Blobs
import ChaosTesting
import Glibc
import MediaProcess
import Platform
import Postgres
import Queue
import QueueWorker
import Store

/// The programs of a run of chaos: a worker, a producer, and the controller that breaks them.
@main
struct Chaos {
  static func main() async {
    let words = Array(CommandLine.arguments.dropFirst())
    let options = Options(Array(words.dropFirst()))
    do {
      try Failpoints.check(ChaosSchema.failpoints)
      switch words.first {
      case "worker": try await work(options)
      case "produce": try await produce(options)
      case "storm": try await storm(options)
      case "service": try await service(options)
      case "matrix": try await matrix(options)
      default: throw OptionError(description: "chaos worker or chaos produce")
      }
    } catch {
      try? standardError.write(Array("chaos: \(error)\n".utf8))
      exit(1)
    }
  }

  private static let standardError = Descriptor(owning: dup(2))

  private static func work(_ options: Options) async throws {
    let signals = StopSignals()
    let worker = try ChaosWorker(
      database: try DatabaseURL(options.text("--database")), ledger: options.text("--ledger"),
      slots: options.number("--slots", 2), mayDrain: options.number("--may-drain", 0) == 1,
      configuration: QueueWorkerConfiguration(
        lease: .milliseconds(try options.number("--lease", 1500)),
        reapInterval: .milliseconds(try options.number("--reap", 400)),
        pollInterval: .milliseconds(try options.number("--poll", 100)),
        drain: .milliseconds(try options.number("--drain", 300))))
    try await withThrowingTaskGroup { group in
      group.addTask { try await worker.run() }
      await signals.wait()
      worker.stop()
      try await group.waitForAll()
    }
  }

  private static func produce(_ options: Options) async throws {
    let signals = StopSignals()
    let stopping = CancellationFlag()
    Task {
      await signals.wait()
      stopping.cancel()
    }
    let producer = try Producer(
      Producer.Configuration(
        ledger: options.text("--ledger"), jobs: options.number("--jobs", 100),
        largestBatch: options.number("--batch", 100), mostLive: options.number("--live", 200),
        operatesEvery: options.number("--operates", 20), seed: options.number("--seed", 0)),
      database: try DatabaseURL(options.text("--database")))
    try producer.run(until: stopping)
  }

  private static func matrix(_ options: Options) async throws {
    let seed: UInt64 = try options.number("--seed", .random(in: 0..<1_000_000))
    let wanted = try options.number("--only", "")
    let all = Matrix.cells.filter { wanted.isEmpty || $0.description.contains(wanted) }
    let count: Int = try options.number("--cells", all.count)
    let cells = count < all.count ? Matrix.slice(count, seed: seed) : all
    print("the matrix: \(cells.count) of \(Matrix.cells.count) cells, seed \(seed)")
    let lanes = MatrixLanes(
      lanes: try options.number("--lanes", 6), folder: try options.text("--folder")
    ) { outcome in
      let seconds = Double(Int(outcome.duration / .milliseconds(100))) / 10
      print("\(outcome.violations.isEmpty ? "ok  " : "FAIL") \(outcome.cell) (\(seconds) s)")
      for violation in outcome.violations { print("       \(violation)") }
      fflush(nil)
    }
    let began = ContinuousClock.now
    let outcomes = try await lanes.run(cells)
    let failed = outcomes.filter { !$0.violations.isEmpty }.count
    print("\(outcomes.count) cells, \(failed) failed, \(began.duration(to: .now) / .seconds(1)) s")
    if failed > 0 { exit(1) }
  }

  private static func storm(_ options: Options) async throws {
    var configuration = StormConfiguration(seed: try options.number("--seed", .random(in: 0..<1_000_000)))
    configuration.jobs = try options.number("--jobs", configuration.jobs)
    configuration.faults = try options.number("--faults", configuration.faults)
    print("the storm: \(configuration.jobs) jobs, \(configuration.faults) faults, seed \(configuration.seed)")
    fflush(nil)
    let folder = try options.text("--folder")
    let server = try await ChaosServer(folder: "\(folder)/server")
    let storm = Storm(configuration, on: try await ChaosRun(on: server, folder: folder, times: ChaosTimes()))
    let report = try await storm.run { line in
      print(line)
      fflush(nil)
    }
    try await server.stop()
    print(report.lines.joined(separator: "\n"))
    if !report.violations.isEmpty {
      print(report.slowest.joined(separator: "\n"))
      exit(1)
    }
  }

  private static func service(_ options: Options) async throws {
    var configuration = ServiceStorm.Configuration(seed: try options.number("--seed", .random(in: 0..<1_000_000)))
    configuration.posts = try options.number("--posts", configuration.posts)
    configuration.faults = try options.number("--faults", configuration.faults)
    configuration.failpoints =
      Failpoint.connections + Failpoint.blobs + Failpoint.mediaProcesses + Store.failpoints + JobQueue.failpoints
    print("the service: \(configuration.posts) posts, \(configuration.faults) faults, seed \(configuration.seed)")
    fflush(nil)
    let folder = try options.text("--folder")
    let server = try await ChaosServer(folder: "\(folder)/server")
    let storm = ServiceStorm(configuration, on: try await ChaosRun(on: server, folder: folder, times: ChaosTimes()))
    let report = try await storm.run { print($0) }
    try await server.stop()
    print(report.lines.joined(separator: "\n"))
    if !report.violations.isEmpty { exit(1) }
  }
}
