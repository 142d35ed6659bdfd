import Blobs
import Logging
import MediaProcess
import QueueWorker
import Store
import Worker

/// The options of a worker, which `serve` and `worker` take: each one is declared and read in this file only.
extension Option {
  /// The options that `WorkerConfiguration.init(_:slots:)` reads.
  static let worker: [Option] = [
    .mediaMemory, .sandbox,
    Option(
      "--background-slots", "N", .integer(0...256), variable: "TAKE5_BACKGROUND_SLOTS", default: "1",
      help: "stored media that are reprocessed at the same time, at the lowest CPU priority"),
    .grace, .keepRejected,
    Option(
      "--lease", "SECONDS", .seconds(1...86_400), variable: "TAKE5_LEASE", default: "30",
      help: "age of the last heartbeat after which other workers take a worker's jobs"),
    Option(
      "--drain", "SECONDS", .anySeconds, variable: "TAKE5_DRAIN", default: "25",
      help: "time for running jobs to finish after a stop signal; the others are released"),
    Option(
      "--poll", "SECONDS", .seconds(0.01...3600), variable: "TAKE5_POLL", default: "1",
      help: "interval at which the queue is checked while no notifications are received"),
    TraceOptions.endpoint, TraceOptions.percent,
  ]
}

extension Option {
  static let keepRejected = Option(
    "--keep-rejected", "SECONDS", .anySeconds, variable: "TAKE5_KEEP_REJECTED", default: "604800",
    help: "time for which the sources of rejected media are kept, to be judged again; 0 keeps none")
}

extension Store {
  /// Reads the options of a worker that are its store's.
  init(_ arguments: Arguments, blobs: any BlobStore, authorConcurrency: Int? = nil) throws(CommandFailure) {
    let seconds = try arguments.seconds(Option.keepRejected.name)
    self.init(blobs: blobs, authorConcurrency: authorConcurrency, keepRejected: .seconds(seconds ?? 0))
  }
}

extension WorkerConfiguration {
  /// Reads the options of a worker.
  init(_ arguments: Arguments, slots: Int) throws(CommandFailure) {
    self.init(slots: slots, media: try MediaProcess.Configuration(arguments))
    backgroundSlots = try arguments.number("--background-slots") ?? backgroundSlots
    if let seconds = try arguments.seconds("--grace") { grace = .seconds(seconds) }
    if let seconds = try arguments.seconds("--lease") { queue.lease = .seconds(seconds) }
    if let seconds = try arguments.seconds("--drain") { queue.drain = .seconds(seconds) }
    if let seconds = try arguments.seconds("--poll") { queue.pollInterval = .seconds(seconds) }
    queue.reapInterval = min(queue.reapInterval, queue.lease / 3)
  }
}

extension Option {
  /// The options that `Logger.init(_:)` reads.
  static let logging: [Option] = [
    Option(
      "--log-level", "LEVEL", .choice(of: LogLevel.self), variable: "TAKE5_LOG_LEVEL", default: "info",
      help: "debug, info, warning or error"),
    Option(
      "--log-format", "text|json", .choice(of: LogFormat.self), variable: "TAKE5_LOG_FORMAT",
      help: "text on a terminal, otherwise JSON"),
  ]
}

extension LogFormat {
  /// Reads `--log-format`.
  init(_ arguments: Arguments) throws(CommandFailure) {
    self = try arguments.choice("--log-format", of: LogFormat.self) ?? .fitting(descriptor: 2)
  }
}

extension Logger {
  /// Reads `--log-format` and `--log-level`.
  init(
    _ arguments: Arguments, write: @escaping @Sendable (String) -> Void = writeToStandardError
  ) throws(CommandFailure) {
    self.init(
      format: try LogFormat(arguments), lowest: try arguments.choice("--log-level", of: LogLevel.self) ?? .info,
      write: write)
  }
}
