import Blobs
import ControlAPI
import Definitions
import HTTPServer
import Logging
import Platform
import Store
import Worker

extension Verb {
  static let serve = Verb(
    "serve", abstract: "Serve the HTTP API and work on what is submitted, until stopped.",
    options: [
      Option(
        "--listen", "HOST:PORT", variable: "TAKE5_LISTEN", default: "127.0.0.1:8080",
        help: "where; port 0 picks a free one; other than loopback needs an API key"),
      Option(
        "--workers", "N", variable: "TAKE5_WORKERS", default: "1",
        help: "jobs at a time in this process; 0 serves the API alone"),
      .data, .database, .apiKey, .definition, .mediaMemory, .lease, .drain, .logLevel, .logFormat,
    ],
    example: "take5 serve --listen 127.0.0.1:8080 --workers 2"
  ) { arguments in
    let address = try address(arguments)
    let key = try APIKey.read(arguments)
    guard key != nil || address.isLoopback else {
      throw CommandFailure(
        .usage, "\(address.host) can be reached by others, and no API key is set",
        remedy: "listen on 127.0.0.1, or set a key in TAKE5_API_KEY or with --api-key-file")
    }
    let workers = try arguments.number("--workers", in: 0...256) ?? 1
    let log = try Logger(arguments)
    let configuration = try WorkerConfiguration(arguments, slots: max(workers, 1))
    let definitions = SubmissionDefinitions(
      moment: try LocalWork.definition(arguments), clip: try Definitions.markerVideo(),
      photos: try Definitions.photos())
    let signals = StopSignals()
    let database = try await DatabaseAccess.open(
      arguments, connections: workers + 8, patience: .seconds(30), log: log)
    let blobs = try BlobFolder.open(arguments)
    let store = Store(blobs: blobs)

    let api = ControlAPI(
      database: database.pool, store: store, blobs: blobs, definitions: definitions,
      key: key.map { BearerKey($0) })
    let server = try APIServer.listen(on: address, api: api, log: log)
    let worker =
      workers == 0
      ? nil
      : RunningWorker(configuration: configuration, database: database, store: store, blobs: blobs, log: log)
    // The first line of standard output, for whoever started us with port 0.
    Console.print(address.url(port: server.port))
    log.info("listening", ["url": address.url(port: server.port), "workers": "\(workers)"])

    await withTaskGroup { group in
      group.addTask { await server.run() }
      if let worker { group.addTask { await worker.run() } }
      await signals.wait()
      log.info("stopping")
      worker?.stop()
      await server.stop(within: .seconds(5))
    }
    await database.close()
    return .done
  }

  private static func address(_ arguments: Arguments) throws(CommandFailure) -> ListenAddress {
    let text = arguments.value("--listen") ?? ""
    guard let address = ListenAddress(text) else {
      throw CommandFailure(.usage, "'\(text)' is no address to listen on", remedy: "write it as HOST:PORT")
    }
    return address
  }
}
