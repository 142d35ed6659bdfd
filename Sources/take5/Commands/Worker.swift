import Blobs
import HTTPServer
import Logging
import Metrics
import Platform
import Postgres
import Queue
import QueueWorker
import Store
import Tracing
import Worker

extension Subcommand {
  static let worker = Subcommand(
    "worker", abstract: "Process jobs from the queue until stopped.",
    options: [
      Option(
        "--slots", "N", .integer(1...256), variable: "TAKE5_SLOTS", default: "1",
        help: "jobs that run at the same time; one per core is recommended"),
      Option(
        "--metrics", "HOST:PORT", .address, variable: "TAKE5_METRICS",
        help: "address for Prometheus to read metrics from, at /metrics, without an API key"),
    ] + Option.store + Option.listening + Option.worker + Option.logging,
    example: "take5 worker --slots 2"
  ) { (arguments, process: ServiceProcess) in
    let (log, metrics) = (process.log, process.metrics)
    let slots = try arguments.number("--slots") ?? 1
    let configuration = try WorkerConfiguration(arguments, slots: slots)
    let sandbox = try await Sandbox.measured(configuration.media)
    let database = try await DatabaseAccess.open(
      arguments, connections: slots + configuration.backgroundSlots + 3, timeout: .seconds(30),
      idleTransactionLimit: configuration.queue.lease, statementLimit: DatabaseAccess.statementLimit,
      schema: .migrating, isService: true,
      log: log)
    process.signals.beforeEndingAtOnce { database.stopServer() }
    try await database.logListening(log)
    let tracer = try TraceOptions.tracer(arguments, metrics, log)
    let blobs = try await BlobOptions.open(arguments, database) { exchange in
      metrics.count(exchange)
      tracer?.record(exchange)
    }
    sandbox.report(to: log, metrics)
    let server = try metricsServer(arguments, metrics, database.pool, log)
    let worker = RestartingWorker(
      configuration: configuration, pool: database.pool, store: try Store(arguments, blobs: blobs), blobs: blobs,
      log: log, metrics: metrics, tracer: tracer, onStart: { ServiceManager.notify(.ready, log) })
    await withTaskGroup { group in
      group.addTask { await worker.run() }
      if let server { group.addTask { await server.run() } }
      await process.signals.wait()
      log.info("stopping")
      ServiceManager.notify(.stopping, log)
      worker.stop()
      await server?.stop(within: .zero)
    }
    await database.close()
    await tracer?.stop()
    return .success
  }

  /// Starts a server for the metrics of the worker; nil without `--metrics`.
  private static func metricsServer(
    _ arguments: Arguments, _ metrics: Metrics, _ database: Pool, _ log: Logger
  ) throws(CommandFailure) -> Server? {
    guard let text = arguments.value("--metrics") else { return nil }
    let address = try ListenAddress(parsing: text)
    let route = Route("GET", "/metrics", admission: Route.open) { _ in
      let gauges = try? await database.run(timeout: .seconds(2)) { try QueueGauges.measure($0) }
      let isUp = MetricGauge("take5_database_up", "Whether the database can be reached.", [:], gauges == nil ? 0 : 1)
      return Response(
        .ok, headers: ["Content-Type": "text/plain; version=0.0.4; charset=utf-8"],
        body: .bytes(Array(metrics.text(with: (gauges ?? []) + [isUp]).utf8)))
    }
    do {
      let server = try Server(
        configuration: ServerConfiguration(host: address.host, port: address.port), router: Router(routes: [route]))
      log.info("metrics", ["url": address.url(port: server.port) + "/metrics"])
      return server
    } catch {
      throw CommandFailure(.unavailable, "\(error)", remedy: "choose another address with --metrics")
    }
  }
}
