import Blobs
import Logging
import Platform
import Store
import Worker

extension Verb {
  static let worker = Verb(
    "worker", abstract: "Take jobs from the queue until stopped.",
    options: [
      Option("--slots", "N", variable: "TAKE5_SLOTS", default: "1", help: "jobs at a time; one for each core"),
      .data, .database, .mediaMemory, .lease, .drain, .logLevel, .logFormat,
    ],
    example: "take5 worker --slots 2"
  ) { arguments in
    let log = try Logger(arguments)
    let slots = try arguments.number("--slots", in: 1...256) ?? 1
    let configuration = try WorkerConfiguration(arguments, slots: slots)
    let signals = StopSignals()
    let database = try await DatabaseAccess.open(
      arguments, connections: slots + 3, patience: .seconds(30), log: log)
    let blobs = try BlobFolder.open(arguments)
    let worker = RunningWorker(
      configuration: configuration, database: database, store: Store(blobs: blobs), blobs: blobs, log: log)
    await withTaskGroup { group in
      group.addTask { await worker.run() }
      await signals.wait()
      log.info("stopping")
      worker.stop()
    }
    await database.close()
    return .done
  }
}
