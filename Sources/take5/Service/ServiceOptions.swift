import Queue
import Rooms
import Telemetry
import Worker

/// The options of a worker, which `serve` and `worker` take.
extension Option {
  static let worker = ofMedia + RoomProgram.all.flatMap(\.workerOptions) + ofQueue

  private static let ofMedia: [Option] = [
    .mediaMemory, .sandbox,
    Option(
      \.worker.lookSlots, "--look-slots", "N", .integer(1...256),
      help:
        "first looks, made before the outputs, that run at the same time; default: one per four slots, but two for 2 to 8"
    ),
    Option(
      \.worker.backgroundSlots, "--background-slots", "N", .integer(0...256),
      help: "stored media that are reprocessed at the same time, at the lowest CPU priority"),
    .grace, .releasedPause, .minFree,
    Option(
      \.keepRejected, "--keep-rejected", "SECONDS", .anySeconds,
      help: "time to keep the sources of rejected media, so that they can be judged again; 0 keeps none"),
    Option(
      \.api.windowSchedule, "--window", "SCHEDULE", .windowSchedule,
      help:
        "when the daily window opens, such as '18:00-18:05 Europe/Berlin' or '5m in 09:00-21:00 Europe/Berlin', unless 'take5 window set' has set it"
    ),
  ]

  private static let ofQueue: [Option] = [
    Option(
      \.worker.queue.lease, "--lease", "SECONDS", .seconds(1...86_400),
      help: "age of the last heartbeat after which other workers take a worker's jobs"),
    Option(
      \.worker.queue.drain, "--drain", "SECONDS", .anySeconds,
      help: "time for running jobs to finish after a stop signal; the others are released"),
    Option(
      \.worker.queue.pollInterval, "--poll", "SECONDS", .seconds(0.01...3600),
      help: "interval at which the queue is checked while no notifications are received"),
    TraceOptions.endpoint, TraceOptions.percent,
  ]
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

/// The options of the store.
extension Option {
  /// The options that name the store.
  static let store: [Option] = [
    .data, .database, .database.file, .pooling, BlobOptions.blobs, BlobOptions.next,
    BlobOptions.cache, BlobOptions.certificates,
  ]
  /// The options that name the database for notifications.
  static let listening: [Option] = [.listenDatabase, .listenDatabase.file]
  /// The options of a command that uses the store and can print JSON.
  static let storeAccess: [Option] = store + [.json]
}
