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
    "serve", abstract: "Serve the HTTP API and process submissions until stopped.",
    options: [
      Option(
        "--listen", "HOST:PORT", variable: "TAKE5_LISTEN", default: "127.0.0.1:8080",
        help: "address to listen on; port 0 picks a free port; other than loopback requires an API key"),
      Option(
        "--workers", "N", variable: "TAKE5_WORKERS", default: "1",
        help: "jobs that this process runs at the same time; 0 serves only the API"),
      Option(
        "--key-requests", "N", variable: "TAKE5_KEY_REQUESTS", default: "60000",
        help: "maximum requests per minute of one API key, or of one address without a key"),
      Option(
        "--address-connections", "N", variable: "TAKE5_ADDRESS_CONNECTIONS", default: "1024",
        help: "maximum connections of one address without a key"),
      Option(
        "--trusted-proxy", "ADDRESSES", variable: "TAKE5_TRUSTED_PROXY",
        help: "reverse proxies whose X-Forwarded-For is trusted, such as 192.0.2.1,10.0.0.0/8"),
      Option(
        "--least-free", "MIB", variable: "TAKE5_LEAST_FREE", default: "256",
        help: "minimum free space for media; with less, submissions with media are refused"),
      Option(
        "--uploads", "N", variable: "TAKE5_UPLOADS", default: "\(UploadLimit.defaultMax)",
        help: "maximum submissions that are received at the same time"),
      Option(
        "--author-submissions", "N", variable: "TAKE5_AUTHOR_SUBMISSIONS", default: "600",
        help: "maximum submissions per minute of one author"),
      Option(
        "--author-concurrency", "N", variable: "TAKE5_AUTHOR_CONCURRENCY",
        help: "maximum jobs of one author that run at the same time, in all workers; unlimited by default"),
      .data, .database, .pooling, .listenDatabase, .apiKey, .definition, .mediaMemory, .backgroundSlots,
      .grace, .lease, .drain, .poll, .logLevel, .logFormat,
    ],
    example: "take5 serve --listen 127.0.0.1:8080 --workers 2"
  ) { (arguments, signals: StopSignals) in
    let address = try ListenAddress(parsing: arguments.value("--listen") ?? "")
    let key = try APIKey.read(arguments)
    let workers = try arguments.number("--workers", in: 0...256) ?? 1
    let concurrency = try arguments.number("--author-concurrency", in: 1...10_000)
    let serverConfiguration = try serverConfiguration(arguments, address)
    let log = try Logger(arguments)
    let configuration = try WorkerConfiguration(arguments, slots: max(workers, 1))
    let definitions = SubmissionDefinitions(
      moment: try LocalMedia.definition(arguments), clip: try Definitions.markerVideo(),
      photos: try Definitions.photos())
    let database = try await DatabaseAccess.open(
      arguments, connections: workers + configuration.backgroundSlots + 8, timeout: .seconds(30),
      idleTransactionLimit: configuration.queue.lease, statementLimit: DatabaseAccess.statementLimit,
      isCreating: true, isService: true, log: log)
    try await database.logListening(log)
    let blobs = try await BlobFolder.open(arguments, database, isCreating: true)
    if database.isNew { log.info("store created", ["data": arguments.value(Option.data.name) ?? ""]) }
    let store = Store(blobs: blobs, authorConcurrency: concurrency)

    // Rates are measured with the monotonic clock; the expiry of URLs with the real-time clock, which machines share.
    let start = ContinuousClock.now
    let metrics = Metrics()
    let refusals = RefusalLog(log: log, metrics: metrics)
    let limits = RateLimits(
      try limits(arguments), now: { start.duration(to: .now) / .seconds(1) },
      onRefusal: { limit, client in refusals.report(limit.rawValue, client: client) })
    // With a trusted proxy, other machines reach a service on loopback.
    let isLocal = address.isLoopback && serverConfiguration.trustedProxies.isEmpty
    let access = AccessControl(
      operatorKey: key, isLoopback: isLocal, limits: limits, now: { Self.now },
      onProxy: { client in refusals.reportProxy(at: client.description) })
    // A connection of its own: a revoked key must be refused within seconds even if all other connections are busy.
    let keys = Pool(database.url.with(statementLimit: .seconds(5)), size: 1)
    try await access.refresh(store, keys)
    guard access.hasKey || isLocal else {
      await keys.close()
      await database.close()
      throw CommandFailure(
        .usage, "other machines can reach \(address.host), and the service has no API key",
        remedy:
          "listen on 127.0.0.1 without a proxy, or set an API key with "
          + "'take5 keys create', TAKE5_API_KEY or --api-key-file"
      )
    }

    let scrub = ScrubQueue()
    let scrubber = Scrubber(
      queue: scrub, recorder: DamageRecorder(store: store, blobs: blobs, log: log, metrics: metrics),
      pool: database.pool)
    let lists = Pool(database.url.with(statementLimit: .seconds(2)), size: 4)
    let jobChanges = try JobChangeNotifier(database: database.pool, url: database.url)
    let liveness = DatabaseLiveness(at: .now)
    let api = ControlAPI(
      database: database.pool, lists: lists, store: store, blobs: blobs, definitions: definitions,
      access: access, jobChanges: jobChanges, metrics: metrics,
      minFree: Int64(try arguments.number("--least-free", in: 0...1 << 30) ?? 256) << 20,
      uploads: UploadLimit(
        max: try arguments.number("--uploads", in: 1...100_000) ?? UploadLimit.defaultMax,
        onRefusal: { client in refusals.report("uploads", client: client.description) }),
      scrub: scrub, isLive: { [isEmbedded = database.isEmbedded] in !isEmbedded || liveness.isRecent(at: .now) })
    let server = try APIServer.listen(
      serverConfiguration, api: api, log: log, metrics: metrics, refusals: refusals)
    let worker =
      workers == 0
      ? nil
      : RestartingWorker(
        configuration: configuration, database: database, store: store, blobs: blobs, log: log,
        metrics: metrics)
    // The first line of standard output, for a process that started the service with port 0.
    try Console.print(address.url(port: server.port))
    log.info("listening", ["url": address.url(port: server.port), "workers": "\(workers)"])

    // These tasks end after the last request.
    let tasks = [
      Task { await jobChanges.run() }, Task { await refresh(access, store, keys, liveness, log) },
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
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
    await lists.close()
    await keys.close()
    await database.close()
    return .success
  }

  private static var now: Int {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return time.tv_sec
  }

  private static func refresh(
    _ access: AccessControl, _ store: Store, _ keys: Pool, _ liveness: DatabaseLiveness, _ log: Logger
  ) async {
    while (try? await Task.sleep(for: AccessControl.refreshInterval)) != nil {
      do {
        try await access.refresh(store, keys)
        liveness.recordReply(at: .now)
      } catch {
        if await keys.isReachable() { liveness.recordReply(at: .now) }
        // The keys read last stay valid: an outage of the database neither locks clients out nor lets others in.
        if !Task.isCancelled { log.warning("the API keys could not be refreshed", ["error": "\(error)"]) }
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
          .usage, "'\(text)' is not the address of a proxy", remedy: "write it as 192.0.2.1 or 10.0.0.0/8")
      }
      configuration.trustedProxies.append(range)
    }
    return configuration
  }
}
