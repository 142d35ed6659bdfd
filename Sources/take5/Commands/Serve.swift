import Blobs
import ControlAPI
import Glibc
import HTTPServer
import Integrity
import Logging
import Metrics
import Platform
import Postgres
import QueueWorker
import Store
import Tracing
import Worker

extension Subcommand {
  /// The number of connections to the database for lists, and of those for other requests.
  private static let listConnections = 4
  private static let connections = 8

  static let serve = Subcommand(
    "serve", abstract: "Serve the HTTP API and process submissions until stopped.",
    options: [
      Option(
        "--listen", "HOST:PORT", .address, variable: "TAKE5_LISTEN", default: "127.0.0.1:8080",
        help: "address to listen on; port 0 picks a free port; other than loopback requires an API key"),
      Option(
        "--slots", "N", .integer(0...256), variable: "TAKE5_SLOTS", default: "1",
        help: "jobs that this process runs at the same time; 0 serves only the API"),
      Option(
        "--key-requests", "N", .integer(1...10_000_000), variable: "TAKE5_KEY_REQUESTS", default: "60000",
        help: "maximum requests per minute of one API key, or of one address without a key"),
      Option(
        "--address-connections", "N", .integer(1...1_000_000), variable: "TAKE5_ADDRESS_CONNECTIONS", default: "1024",
        help: "maximum connections of one address without a key"),
      Option(
        "--address-attempts", "N", .integer(1...1_000_000), variable: "TAKE5_ADDRESS_ATTEMPTS", default: "10",
        help: "maximum attempts per minute to sign in or to register from one address; at once, six times as many"),
      Option(
        "--trusted-proxy", "ADDRESSES", .addresses, variable: "TAKE5_TRUSTED_PROXY",
        help: "reverse proxies whose X-Forwarded-For is trusted, such as 192.0.2.1,10.0.0.0/8"),
      Option(
        "--allow-origin", "ORIGINS", .text, variable: "TAKE5_ALLOW_ORIGIN",
        help:
          "origins whose web pages may use the API, such as https://app.example.org,http://localhost:3000; * is every one"
      ),
      Option(
        "--min-free", "MIB", .integer(0...1 << 30), variable: "TAKE5_MIN_FREE", default: "256",
        help: "minimum free space for media; with less, submissions with media are refused"),
      Option(
        "--serve-media", "service|redirect", variable: "TAKE5_SERVE_MEDIA", default: "service",
        help:
          "who sends media of a bucket: the service, or the bucket itself, to whose signed URLs clients are redirected"
      ),
      Option(
        "--uploads", "N", .integer(1...100_000), variable: "TAKE5_UPLOADS",
        default: "\(ControlAPI.maxSubmissions)",
        help: "maximum submissions that are received at the same time; one API key has at most half of them"),
      Option(
        "--upload-lifetime", "SECONDS", .seconds(1...2_592_000), variable: "TAKE5_UPLOAD_LIFETIME", default: "86400",
        help: "lifetime of an upload in parts that no submission has used"),
      Option(
        "--upload-idle", "SECONDS", .seconds(1...2_592_000), variable: "TAKE5_UPLOAD_IDLE", default: "3600",
        help: "lifetime without a byte of an upload in parts that is not whole and that no post awaits"),
      Option(
        "--user-open-uploads", "N", .integer(1...1_000_000), variable: "TAKE5_USER_OPEN_UPLOADS", default: "32",
        help: "maximum uploads in parts of one user that no submission has used"),
      Option(
        "--user-open-mib", "MIB", .integer(1...1 << 30), variable: "TAKE5_USER_OPEN_MIB", default: "1024",
        help: "maximum length of these uploads together"),
      Option(
        "--key-open-uploads", "N", .integer(1...1_000_000), variable: "TAKE5_KEY_OPEN_UPLOADS", default: "4096",
        help: "maximum uploads in parts of one API key, acting as no user, that no submission has used"),
      Option(
        "--key-open-mib", "MIB", .integer(1...1 << 30), variable: "TAKE5_KEY_OPEN_MIB", default: "65536",
        help: "maximum length of these uploads together"),
      Option(
        "--user-daily-posts", "N", .integer(1...1_000_000), variable: "TAKE5_USER_DAILY_POSTS",
        help: "maximum posts of one user a day, in UTC; unlimited by default"),
      Option(
        "--user-daily-mib", "MIB", .integer(1...1 << 30), variable: "TAKE5_USER_DAILY_MIB",
        help: "maximum media that one user sends a day, in UTC; unlimited by default"),
      Option(
        "--key-daily-posts", "N", .integer(1...1_000_000_000), variable: "TAKE5_KEY_DAILY_POSTS",
        help: "maximum posts of one API key a day, in UTC; unlimited by default"),
      Option(
        "--key-daily-mib", "MIB", .integer(1...1 << 30), variable: "TAKE5_KEY_DAILY_MIB",
        help: "maximum media that one API key sends a day, in UTC; unlimited by default"),
      Option(
        "--author-submissions", "N", .integer(1...10_000_000), variable: "TAKE5_AUTHOR_SUBMISSIONS", default: "600",
        help: "maximum submissions per minute of one author"),
      Option(
        "--author-concurrency", "N", .integer(1...10_000), variable: "TAKE5_AUTHOR_CONCURRENCY",
        help: "maximum jobs of one author that run at the same time, in all workers; unlimited by default"),
    ] + Option.users + Option.store + Option.listening + [
      .apiKey, .definition, ServedDefinitions.option, CollectionKinds.option,
    ] + Option.worker
      + Option.logging,
    example: "take5 serve --listen 127.0.0.1:8080 --slots 2"
  ) { (arguments, process: ServiceProcess) in
    let (log, metrics) = (process.log, process.metrics)
    let exposure = try ServiceExposure(arguments)
    let key = try APIKey.read(arguments)
    let identity = try IdentityOptions(arguments)
    let passwords = try Option.hasAccounts(arguments) ? PasswordWork() : nil
    let slots = try arguments.number("--slots") ?? 1
    let concurrency = try arguments.number("--author-concurrency")
    let serverConfiguration = try serverConfiguration(arguments, exposure)
    let provider = try await identity?.provider(log)
    let configuration = try WorkerConfiguration(arguments, slots: max(slots, 1))
    let definitions = try ServedDefinitions.read(arguments)
    try APIServer.check(exposure.address, named: arguments.value("--listen") ?? "")
    let sandbox = slots == 0 ? nil : try await Sandbox.measured(configuration.media)
    let database = try await DatabaseAccess.open(
      arguments, connections: slots + configuration.backgroundSlots + Self.connections, timeout: .seconds(30),
      idleTransactionLimit: configuration.queue.lease, statementLimit: DatabaseAccess.statementLimit,
      schema: .migrating, isCreating: true, isService: true, log: log)
    process.signals.beforeEndingAtOnce { database.stopServer() }
    try await database.logListening(log)
    let tracer = try TraceOptions.tracer(arguments, metrics, log)
    let blobs = try await BlobOptions.open(arguments, database, isCreating: true) { exchange in
      metrics.count(exchange)
      tracer?.record(exchange)
    }
    try BlobOptions.takeUploads(arguments, blobs)
    if database.isNew { log.info("store created", ["data": arguments.value(Option.data.name) ?? ""]) }
    let store = try Store(arguments, blobs: blobs, authorConcurrency: concurrency)

    // Rates are measured with the monotonic clock; the expiry of URLs with the real-time clock, which machines share.
    let start = ContinuousClock.now
    sandbox?.report(to: log, metrics)
    let refusals = RefusalLog(log: log, metrics: metrics)
    let limits = RateLimits(
      try limits(arguments), now: { start.duration(to: .now) / .seconds(1) },
      onRefusal: { limit, client in refusals.report(limit.rawValue, client: client) })
    let access = AccessControl(
      operatorKey: key, isLoopback: exposure.isLocal, limits: limits, tokens: UserTokenCache(store, database.pool),
      provider: provider, hasAccounts: passwords != nil, now: { Self.now },
      onProxy: { client in refusals.reportProxy(at: client.description) })
    // A connection of its own: a revoked key must be refused within seconds even if all other connections are busy.
    let keys = Pool(database.url.with(statementLimit: .seconds(5)), size: 1)
    try await access.refresh(store, keys)
    do throws(CommandFailure) {
      try exposure.check(hasKey: access.hasKey || provider != nil || passwords != nil)
    } catch {
      await keys.close()
      await database.close()
      throw error
    }

    let scrub = ScrubQueue()
    let scrubber = Scrubber(
      queue: scrub, recorder: DamageRecorder(store: store, blobs: blobs, log: log, metrics: metrics),
      pool: database.pool)
    let lists = Pool(database.url.with(statementLimit: .seconds(2)), size: Self.listConnections, boundsWaiting: true)
    let changes = try Changes(database: database.pool, store: store, url: database.url, access: access, log: log)
    let liveness = DatabaseLiveness(at: .now)
    let api = ControlAPI(
      database: database.pool, lists: lists, store: store, blobs: blobs, definitions: definitions,
      access: access, changes: changes, metrics: metrics,
      minFree: try minFree(arguments),
      maxSubmissions: try arguments.number("--uploads") ?? ControlAPI.maxSubmissions,
      uploadTimes: try uploadTimes(arguments), openUploads: try openUploads(arguments), quotas: try quotas(arguments),
      scrub: scrub, passwords: passwords, redirectsMedia: arguments.value("--serve-media") == "redirect", log: log,
      onUploadRefusal: { client in refusals.report("uploads", client: client.description) },
      isLive: { [isEmbedded = database.isEmbedded] in !isEmbedded || liveness.isRecent(at: .now) })
    let server = try APIServer.listen(
      serverConfiguration, api: api, log: log, metrics: metrics, refusals: refusals, tracer: tracer)
    let worker =
      slots == 0
      ? nil
      : RestartingWorker(
        configuration: configuration, pool: database.pool, store: store, blobs: blobs, log: log,
        metrics: metrics, tracer: tracer)
    // The first line of standard output, for a process that started the service with port 0.
    try Console.print(exposure.address.url(port: server.port))
    log.info("listening", ["url": exposure.address.url(port: server.port), "slots": "\(slots)"])
    ServiceManager.notify(.ready, log)

    // These tasks end after the last request.
    let tasks = [
      Task { await changes.run() }, Task { await api.run() },
      Task { await refresh(access, store, keys, liveness, log) },
      Task { await scrubber.run() }, Task { await refresh(provider) },
    ]
    await withTaskGroup { group in
      group.addTask { await server.run() }
      if let worker { group.addTask { await worker.run() } }
      await process.signals.wait()
      log.info("stopping")
      ServiceManager.notify(.stopping, log)
      worker?.stop()
      await server.stop(within: .seconds(5))
    }
    for task in tasks { task.cancel() }
    for task in tasks { await task.value }
    await lists.close()
    await keys.close()
    await database.close()
    await tracer?.stop()
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

  /// Reads the key set of the identity provider from time to time.
  private static func refresh(_ provider: IdentityProvider?) async {
    while let provider, (try? await Task.sleep(for: IdentityProvider.refreshInterval)) != nil {
      await provider.refresh()
    }
  }

  /// The minimum free space for media, in bytes.
  static func minFree(_ arguments: Arguments) throws(CommandFailure) -> Int64 {
    Int64(try arguments.number("--min-free") ?? 256) << 20
  }

  private static func limits(_ arguments: Arguments) throws(CommandFailure) -> RateLimits.Configuration {
    var limits = RateLimits.Configuration()
    limits.requestsPerMinute = try arguments.number("--key-requests") ?? limits.requestsPerMinute
    limits.submissionsPerMinute =
      try arguments.number("--author-submissions") ?? limits.submissionsPerMinute
    if let attempts = try arguments.number("--address-attempts") {
      limits.attemptsOfAddress = RateLimits.Rate(perMinute: attempts, burst: 6 * attempts)
    }
    return limits
  }

  private static func uploadTimes(_ arguments: Arguments) throws(CommandFailure) -> UploadTimes {
    var times = UploadTimes()
    times.lifetime = try arguments.seconds("--upload-lifetime") ?? times.lifetime
    times.idle = try arguments.seconds("--upload-idle") ?? times.idle
    return times
  }

  private static func openUploads(_ arguments: Arguments) throws(CommandFailure) -> OpenUploads.Limits {
    func read(_ client: String, _ limit: inout OpenUploads.Limit) throws(CommandFailure) {
      limit.uploads = try arguments.number("--\(client)-open-uploads") ?? limit.uploads
      limit.bytes = try arguments.number("--\(client)-open-mib").map { Int64($0) << 20 } ?? limit.bytes
    }
    var limits = OpenUploads.Limits()
    try read("user", &limits.user)
    try read("key", &limits.key)
    return limits
  }

  private static func quotas(_ arguments: Arguments) throws(CommandFailure) -> Quotas {
    func quota(_ sender: String) throws(CommandFailure) -> DailyQuota {
      DailyQuota(
        posts: try arguments.number("--\(sender)-daily-posts"),
        bytes: try arguments.number("--\(sender)-daily-mib").map { Int64($0) << 20 })
    }
    var quotas = Quotas()
    quotas.user = try quota("user")
    quotas.key = try quota("key")
    return quotas
  }

  private static func serverConfiguration(
    _ arguments: Arguments, _ exposure: ServiceExposure
  ) throws(CommandFailure) -> ServerConfiguration {
    var configuration = ServerConfiguration(host: exposure.address.host, port: exposure.address.port)
    configuration.trustedProxies = exposure.proxies
    do throws(AllowedOrigins.InvalidOrigin) {
      configuration.allowedOrigins = try AllowedOrigins((arguments.value("--allow-origin") ?? "").split(separator: ","))
    } catch {
      throw CommandFailure(
        .usage, "'\(error.text)' is not an origin",
        remedy: "write it as https://app.example.org: in lower case, without a path and without the default port")
    }
    configuration.maxPerAddress =
      try arguments.number("--address-connections") ?? configuration.maxPerAddress
    return configuration
  }
}
