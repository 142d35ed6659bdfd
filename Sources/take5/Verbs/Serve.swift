import Blobs
import ControlAPI
import Definitions
import Glibc
import HTTPServer
import Integrity
import Logging
import Metrics
import Platform
import Postgres
import QueueWorker
import Store
import Worker

extension Subcommand {
  static let serve = Subcommand(
    "serve", abstract: "Serve the HTTP API and work on what is submitted, until stopped.",
    options: [
      Option(
        "--listen", "HOST:PORT", variable: "TAKE5_LISTEN", default: "127.0.0.1:8080",
        help: "where; port 0 picks a free one; other than loopback needs an API key"),
      Option(
        "--workers", "N", variable: "TAKE5_WORKERS", default: "1",
        help: "jobs at a time in this process; 0 serves the API alone"),
      Option(
        "--key-requests", "N", variable: "TAKE5_KEY_REQUESTS", default: "60000",
        help: "the most requests a minute of one API key, or of one address without a key"),
      Option(
        "--address-connections", "N", variable: "TAKE5_ADDRESS_CONNECTIONS", default: "1024",
        help: "the most connections of one address without a key"),
      Option(
        "--trusted-proxy", "ADDRESSES", variable: "TAKE5_TRUSTED_PROXY",
        help: "reverse proxies, as 192.0.2.1,10.0.0.0/8: the client is whom they name in X-Forwarded-For"),
      Option(
        "--least-free", "MIB", variable: "TAKE5_LEAST_FREE", default: "256",
        help: "with less room for media none are taken in"),
      Option(
        "--uploads", "N", variable: "TAKE5_UPLOADS", default: "\(UploadLimit.usual)",
        help: "the most submissions that are taken in at a time"),
      Option(
        "--author-submissions", "N", variable: "TAKE5_AUTHOR_SUBMISSIONS", default: "600",
        help: "the most submissions a minute of one author"),
      Option(
        "--author-concurrency", "N", variable: "TAKE5_AUTHOR_CONCURRENCY",
        help: "the most jobs of one author that are at work at a time, in all workers"),
      .data, .database, .pooling, .listenDatabase, .apiKey, .definition, .mediaMemory, .backgroundSlots,
      .grace, .lease, .drain, .poll, .logLevel, .logFormat,
    ],
    example: "take5 serve --listen 127.0.0.1:8080 --workers 2"
  ) { (arguments, signals: StopSignals) in
    let address = try address(arguments)
    let key = try APIKey.read(arguments)
    let workers = try arguments.number("--workers", in: 0...256) ?? 1
    let concurrency = try arguments.number("--author-concurrency", in: 1...10_000)
    let serverConfiguration = try serverConfiguration(arguments, address)
    let log = try Logger(arguments)
    let configuration = try WorkerConfiguration(arguments, slots: max(workers, 1))
    let definitions = SubmissionDefinitions(
      moment: try LocalWork.definition(arguments), clip: try Definitions.markerVideo(),
      photos: try Definitions.photos())
    let database = try await DatabaseAccess.open(
      arguments, connections: workers + configuration.backgroundSlots + 8, timeout: .seconds(30),
      idleTransactionLimit: configuration.queue.lease, statementLimit: DatabaseAccess.statementLimit,
      isMaking: true, isService: true, log: log)
    try await database.noteListening(log)
    let blobs = try await BlobFolder.open(arguments, database, isMaking: true)
    if database.isNew { log.info("a new store was made", ["data": arguments.value(Option.data.name) ?? ""]) }
    let store = Store(blobs: blobs, authorConcurrency: concurrency)

    // Rates by a clock that nobody sets; when URLs expire is said by the one that all machines share.
    let began = ContinuousClock.now
    let metrics = Metrics()
    let refusals = RefusalReport(log: log, metrics: metrics)
    let limits = RateLimits(
      try limits(arguments), now: { began.duration(to: .now) / .seconds(1) },
      onRefusal: { limit, who in refusals.tell(limit.rawValue, of: who) })
    // Who names a proxy is reached by others through it.
    let isLocal = address.isLoopback && serverConfiguration.trustedProxies.isEmpty
    let access = AccessControl(
      operatorKey: key, isLoopback: isLocal, limits: limits, now: { Self.now },
      onProxy: { client in refusals.tellOfProxy(at: client.description) })
    // On a connection of its own: however busy the others are, a revoked key admits to nothing within seconds.
    let keys = Pool(database.url.with(statementLimit: .seconds(5)), size: 1)
    try await access.refresh(store, keys)
    guard access.hasKey || isLocal else {
      await keys.close()
      await database.close()
      throw CommandFailure(
        .usage, "\(address.host) can be reached by others, and there is no API key",
        remedy:
          "listen on 127.0.0.1 without a proxy, or make a key with 'take5 keys create', in TAKE5_API_KEY or with --api-key-file"
      )
    }

    let scrub = ScrubQueue()
    let scrubber = Scrubber(
      queue: scrub, recorder: DamageRecorder(store: store, blobs: blobs, log: log, metrics: metrics),
      pool: database.pool)
    let lists = Pool(database.url.with(statementLimit: .seconds(2)), size: 4)
    let watch = try JobChangeNotifier(database: database.pool, url: database.url)
    let presence = DatabasePresence(at: .now)
    let api = ControlAPI(
      database: database.pool, lists: lists, store: store, blobs: blobs, definitions: definitions,
      access: access, watch: watch, metrics: metrics,
      minFree: Int64(try arguments.number("--least-free", in: 0...1 << 30) ?? 256) << 20,
      uploads: UploadLimit(
        most: try arguments.number("--uploads", in: 1...100_000) ?? UploadLimit.usual,
        onRefusal: { client in refusals.tell("uploads", of: client.description) }),
      scrub: scrub, isLive: { [isEmbedded = database.isEmbedded] in !isEmbedded || presence.isRecent(at: .now) })
    let server = try APIServer.listen(
      serverConfiguration, api: api, log: log, metrics: metrics, refusals: refusals)
    let worker =
      workers == 0
      ? nil
      : RunningWorker(
        configuration: configuration, database: database, store: store, blobs: blobs, log: log,
        metrics: metrics)
    // The first line of standard output, for whoever started us with port 0.
    try Console.print(address.url(port: server.port))
    log.info("listening", ["url": address.url(port: server.port), "workers": "\(workers)"])

    // They end after the last request.
    let beside = [
      Task { await watch.run() }, Task { await refresh(access, store, keys, presence, log) },
      Task { await scrubber.run() },
    ]
    await withTaskGroup { group in
      group.addTask { await server.run() }
      if let worker { group.addTask { await worker.run() } }
      await signals.wait()
      log.info("stopping")
      worker?.stop()
      await server.stop(within: .seconds(5))
    }
    for task in beside { task.cancel() }
    for task in beside { await task.value }
    await lists.close()
    await keys.close()
    await database.close()
    return .done
  }

  private static var now: Int {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return time.tv_sec
  }

  private static func refresh(
    _ access: AccessControl, _ store: Store, _ keys: Pool, _ presence: DatabasePresence, _ log: Logger
  ) async {
    while (try? await Task.sleep(for: AccessControl.freshness)) != nil {
      do {
        try await access.refresh(store, keys)
        presence.note(at: .now)
      } catch {
        if await keys.isAnswered() { presence.note(at: .now) }
        // Those that are known stay: a database that is away locks nobody out, and lets nobody in.
        if !Task.isCancelled { log.warning("the API keys could not be read anew", ["error": "\(error)"]) }
      }
    }
  }

  private static func limits(_ arguments: Arguments) throws(CommandFailure) -> RateLimits.Configuration {
    var limits = RateLimits.Configuration()
    limits.requestsPerMinute = try arguments.number("--key-requests", in: 1...10_000_000) ?? limits.requestsPerMinute
    limits.submissionsPerMinute =
      try arguments.number("--author-submissions", in: 1...10_000_000) ?? limits.submissionsPerMinute
    return limits
  }

  private static func serverConfiguration(
    _ arguments: Arguments, _ address: ListenAddress
  ) throws(CommandFailure) -> ServerConfiguration {
    var configuration = ServerConfiguration(host: address.host, port: address.port)
    configuration.maxPerAddress =
      try arguments.number("--address-connections", in: 1...1_000_000) ?? configuration.maxPerAddress
    for text in (arguments.value("--trusted-proxy") ?? "").split(separator: ",") {
      guard let range = AddressRange(String(text)) else {
        throw CommandFailure(
          .usage, "'\(text)' is no address of a proxy", remedy: "write it as 192.0.2.1, or as 10.0.0.0/8")
      }
      configuration.trustedProxies.append(range)
    }
    return configuration
  }

  private static func address(_ arguments: Arguments) throws(CommandFailure) -> ListenAddress {
    let text = arguments.value("--listen") ?? ""
    guard let address = ListenAddress(text) else {
      throw CommandFailure(.usage, "'\(text)' is no address to listen on", remedy: "write it as HOST:PORT")
    }
    return address
  }
}
