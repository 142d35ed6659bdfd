import HTTPServer
import MediaProcess
import Platform
import Postgres
import Queue
import Rooms
import Telemetry
import Worker

extension Subcommand {
  private static let ofWorker: [Option] = [
    Option(
      \.worker.slots, "--slots", "N", .integer(0...256),
      help: "jobs that run at the same time; one per core is recommended"),
    Option(
      "--metrics", "HOST:PORT", .address, variable: "TAKE5_METRICS",
      help: "address for Prometheus to read metrics from, at /metrics, without an API key"),
  ]

  static let worker = Subcommand(
    "worker", abstract: "Process jobs from the queue until stopped.",
    options: ofWorker + Option.store + Option.listening + Option.worker + PushOptions.all + Option.logging,
    example: "take5 worker --slots 2"
  ) { (arguments, process: ServiceProcess) in
    let inputs = try WorkerInputs(arguments)
    let configuration = inputs.configuration
    try MediaProcess.Configuration.openProgram()
    let sandbox = try await Sandbox.measured(configuration.worker.media)
    let tracer = try TraceOptions.tracer(arguments, process.metrics, process.log)
    // A supervisor asks for the metrics while the worker waits for its database, too.
    let database = Locked<Pool?>(nil)
    let server = try metricsServer(arguments, process.metrics, process.log) { database.withLock(\.self) }
    let found = try await OpenedStore.open(arguments, configuration, inputs.push, process, tracer, connections: 3)
    guard let opened = found else {
      await process.run(server, nil, stopWithin: .zero)
      return .success
    }
    return try await opened.use {
      database.withLock { $0 = opened.database.pool }
      sandbox.report(to: process.log, process.metrics)
      let worker = try RestartingWorker(
        configuration: configuration.worker, pool: opened.database.pool, store: opened.store, blobs: opened.blobs,
        tasks: opened.tasks(configuration, process.log),
        couriers: opened.couriers(configuration, process.log, process.metrics),
        log: process.log, metrics: process.metrics, tracer: opened.tracer,
        onStart: { ServiceManager.notify(.ready, process.log) })
      let clock = ClockWatch(process.log, process.metrics)
      let comparing = Task { await clock.run(opened.database.pool) }
      await process.run(server, worker, stopWithin: .zero)
      comparing.cancel()
      await comparing.value
      return .success
    }
  }

  /// Starts a server for the metrics of the worker; nil without `--metrics`.
  ///
  /// - Parameter database: returns the database; nil as long as the worker waits for it.
  private static func metricsServer(
    _ arguments: Arguments, _ metrics: Metrics, _ log: Logger, database: @escaping @Sendable () -> Pool?
  ) throws(CommandFailure) -> Server? {
    guard let text = arguments.value("--metrics") else { return nil }
    let address = try ListenAddress(parsing: text)
    let route = Route("GET", "/metrics", admission: Route.open) { _ in
      let gauges = try? await database()?.run(timeout: .seconds(2)) { try OperationGauges.measure($0) }
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
