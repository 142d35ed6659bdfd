import HTTPServer
import Platform
import Telemetry

/// What a service has from its start to its end.
struct ServiceProcess: Sendable {
  let signals: StopSignals
  /// Its lines are written by a thread of their own.
  let log: Logger
  let metrics: Metrics
  private let ending = Ending()

  /// What ends a service without a signal.
  private final class Ending: Sendable {
    let failure = Locked<CommandFailure?>(nil)
  }

  /// The time for the last lines of the log: their reader may have stopped.
  private static let flushTimeout = Duration.seconds(1)

  /// Prepares this process, and runs a service in it.
  static func run(
    _ arguments: Arguments, _ service: (ServiceProcess) async throws -> ExitStatus
  ) async throws -> ExitStatus {
    // The memory has media, keys and tokens.
    try ThisProcess.denyDumps()
    ThisProcess.disableBacktraces()
    ThisProcess.raiseOpenFilesLimit()
    guard ThisProcess.openFilesLimit >= ThisProcess.minOpenFiles else {
      throw CommandFailure(
        .configuration, "the limit of open files is \(ThisProcess.openFilesLimit)",
        remedy: "raise it to \(ThisProcess.minOpenFiles) at least, better 65536: ulimit -n, or LimitNOFILE= in a unit"
      )
    }
    let metrics = Metrics()
    let countDropped = { @Sendable (lines: Double) in
      metrics.count(
        "take5_log_lines_dropped_total", "Log lines that were dropped because their reader was slow or gone.", by: lines
      )
    }
    countDropped(0)
    let output = try LogOutput(format: try LogFormat(arguments)) { countDropped(1) }
    let process = ServiceProcess(
      signals: StopSignals(isService: true), log: try Logger(arguments) { output.add($0) }, metrics: metrics)
    defer { output.flush(within: flushTimeout) }
    CriticalSection.reportWaits { [log = process.log] call in
      log.error("a transaction of the database, or a thread of request handlers, waits for the storage", ["call": call])
    }
    do {
      let status = try await service(process)
      if let failure = process.ending.failure.withLock(\.self) { throw failure }
      return status
    } catch {
      // In the order of the log, and without waiting for its reader.
      let invalid = error as? InvalidConfiguration
      let failures = invalid?.failures ?? [CommandFailure(error)]
      for line in failures.flatMap(\.lines) { output.add(line + "\n") }
      return invalid?.startStatus ?? failures[0].status
    }
  }

  /// Ends the service in order, as a signal does, and with the status of a failure.
  func end(with failure: CommandFailure) {
    ending.failure.withLock { $0 = failure }
    signals.requestEnd()
  }

  /// Runs a server and a worker until a signal arrives.
  func run(_ server: Server?, _ worker: RestartingWorker?, stopWithin timeout: Duration) async {
    await withTaskGroup { group in
      if let server { group.addTask { await server.run() } }
      if let worker { group.addTask { await worker.run() } }
      await signals.wait()
      log.info("stopping")
      ServiceManager.notify(.stopping, log)
      worker?.stop()
      await server?.stop(within: timeout)
    }
  }
}

extension Subcommand {
  /// Makes a service, which runs until a signal arrives.
  init(
    _ name: String, abstract: String, options: [Option], example: String,
    service run: @escaping @Sendable (Arguments, ServiceProcess) async throws -> ExitStatus
  ) {
    self.init(
      name: name, abstract: abstract, operands: [], options: options, example: example, isHidden: false,
      reportsConfiguration: false
    ) { arguments in
      try await ServiceProcess.run(arguments) { try await run(arguments, $0) }
    }
  }
}
