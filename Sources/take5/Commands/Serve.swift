import Blobs
import Glibc
import HTTPServer
import Integrity
import Kit
import MediaProcess
import Platform
import Postgres
import Rooms
import Store
import Telemetry
import Worker

extension Subcommand {
  /// The number of connections to the database for lists, and of those for other requests.
  private static let listConnections = 4
  private static let connections = 8

  private static let ofServe: [Option] = [
    Option(
      "--listen", "HOST:PORT", .address, variable: "TAKE5_LISTEN", default: "127.0.0.1:8080",
      help: "address to listen on; port 0 picks a free port; other than loopback requires an API key or --accounts on"),
    Option(
      \.worker.slots, "--slots", "N", .integer(0...256),
      help: "jobs that this process runs at the same time; 0 serves only the API"),
    Option(
      \.limits.requestsPerMinute, "--key-requests", "N", .integer(1...10_000_000),
      help: "maximum requests per minute of one API key, or of one address without a key"),
    Option(
      \.server.maxPerAddress, "--address-connections", "N", .integer(1...1_000_000),
      help: "maximum connections of one address without a key"),
    Option(
      \.limits.addressAttempts, "--address-attempts", "N", .integer(1...1_000_000),
      help: "maximum attempts per minute to sign in or to register from one address; at once, six times as many"),
    Option(
      "--trusted-proxy", "ADDRESSES", .addresses, variable: "TAKE5_TRUSTED_PROXY",
      help: "reverse proxies whose X-Forwarded-For is trusted, such as 192.0.2.1,10.0.0.0/8"),
    Option(
      "--allow-origin", "ORIGINS", .text, variable: "TAKE5_ALLOW_ORIGIN",
      help:
        "origins whose web pages may use the API, such as https://app.example.org,http://localhost:3000; * allows all"
    ),
    Option(
      \.api.maxDatabase, "--max-database", "MIB", .integer(1...1 << 40),
      help:
        "size of the database of --database above which clients store nothing; unlimited by default; --min-free limits an embedded one"
    ),
    Option(
      \.api.admitsUnknownAge, "--unknown-age", "minor|adult",
      help: "age of users without a birth date for posts with a min_age; set it alike in all processes of a store"),
    Option(
      \.api.maxFriends, "--max-friends", "N", .integer(1...1_000_000),
      help: "maximum friends of a user: each post is announced to all of them"),
    Option(
      \.limits.textOfUser, "--user-text", "MIB", .integer(1...1 << 20),
      help: "maximum text that one user stores a day, such as comments"),
    Option(
      \.limits.textOfAddress, "--address-text", "MIB", .integer(1...1 << 20),
      help: "maximum text that the users with tokens of one address together store a day"),
    Option(
      \.api.redirectsMedia, "--serve-media", "service|redirect",
      help:
        "sender of the media in a bucket: the service, or the bucket, by a redirect of clients to signed URLs"
    ),
    Option(
      \.api.maxSubmissions, "--uploads", "N", .integer(1...100_000),
      help: "maximum submissions that are received at the same time; one API key has at most half of them"),
    Option(
      \.api.uploadLifetime, "--upload-lifetime", "SECONDS", .seconds(1...2_592_000),
      help: "time after which an upload in parts expires if no submission uses it"),
    Option(
      \.api.uploadIdle, "--upload-idle", "SECONDS", .seconds(1...2_592_000),
      help: "time without a byte after which an incomplete upload in parts expires, unless a post awaits it"),
    Option(
      \.api.openUploads.user.uploads, "--user-open-uploads", "N", .integer(1...1_000_000),
      help: "maximum number of one user's uploads in parts that no submission has used"),
    Option(
      \.api.openUploads.user.bytes, "--user-open-mib", "MIB", .integer(1...1 << 30),
      help: "maximum total size of one user's uploads in parts that no submission has used"),
    Option(
      \.api.openUploads.key.uploads, "--key-open-uploads", "N", .integer(1...1_000_000),
      help: "maximum number of uploads in parts of one API key, acting as no user, that no submission has used"),
    Option(
      \.api.openUploads.key.bytes, "--key-open-mib", "MIB", .integer(1...1 << 30),
      help: "maximum total size of uploads in parts of one API key, acting as no user, that no submission has used"),
    Option(
      \.api.quotas.user.posts, "--user-daily-posts", "N", .integer(1...1_000_000),
      help: "maximum posts of one user a day, in UTC; unlimited by default"),
    Option(
      \.api.quotas.user.bytes, "--user-daily-mib", "MIB", .integer(1...1 << 30),
      help: "maximum media that one user sends a day, in UTC; unlimited by default"),
    Option(
      \.api.quotas.key.posts, "--key-daily-posts", "N", .integer(1...1_000_000_000),
      help: "maximum posts of one API key a day, in UTC; unlimited by default"),
    Option(
      \.api.quotas.key.bytes, "--key-daily-mib", "MIB", .integer(1...1 << 30),
      help: "maximum media that one API key sends a day, in UTC; unlimited by default"),
    Option(
      \.limits.submissionsPerMinute, "--author-submissions", "N", .integer(1...10_000_000),
      help: "maximum submissions per minute of one author"),
    Option(
      \.authorConcurrency, "--author-concurrency", "N", .integer(1...10_000),
      help: "maximum jobs of one author that run at the same time, in all workers; unlimited by default"),
  ]

  static let serve = Subcommand(
    "serve", abstract: "Serve the HTTP API and process submissions until stopped.",
    options: ofServe + Option.users + Option.store + Option.listening + [
      .apiKey, .definition, ServedDefinitions.option, CollectionKinds.option, FilmAddress.option,
    ] + Option.worker + PushOptions.all
      + Option.logging,
    example: "take5 serve --listen 127.0.0.1:8080 --slots 2"
  ) { (arguments, process: ServiceProcess) in
    let (log, metrics) = (process.log, process.metrics)
    let inputs = try ServiceInputs(arguments)
    let (exposure, configuration, definitions) = (inputs.exposure, inputs.configuration, inputs.definitions)
    let passwords = try configuration.hasAccounts ? PasswordWork() : nil
    let providers = try await configuration.identity.providers(log)
    try MediaProcess.Configuration.openProgram()
    try APIServer.check(exposure.address, named: arguments.value("--listen") ?? "")
    let isWorker = configuration.worker.slots > 0
    let sandbox = isWorker ? try await Sandbox.measured(configuration.worker.media) : nil
    let tracer = try TraceOptions.tracer(arguments, metrics, log)
    let refusals = RefusalLog(log: log, metrics: metrics)
    let ratio = try TraceOptions.ratio(arguments)
    let listening = ListeningAPI {
      try APIServer.listen(
        configuration.server, router: ControlAPI.waitingRouter, log: log, metrics: metrics, refusals: refusals,
        tracer: tracer, traceRatio: ratio)
    } onListening: { server in
      let url = exposure.address.url(port: server.port)
      // The first line of standard output, for a process that started the service with port 0.
      try Console.print(url)
      log.info("listening", ["url": url, "slots": "\(configuration.worker.slots)"])
    }
    let found = try await OpenedStore.open(
      arguments, configuration, inputs.push, process, tracer, connections: connections, isServing: true
    ) { try listening.announce() }
    guard let opened = found else {
      await process.run(listening.current, nil, stopWithin: .zero)
      return .success
    }
    return try await opened.use {
      if opened.database.isNew { log.info("store created", ["data": arguments.value(Option.data.name) ?? ""]) }
      sandbox?.report(to: log, metrics)

      let (pool, store, url) = (opened.database.pool, opened.store, opened.database.url)
      let accessed = try await process.awaitingDatabase(onWait: { try listening.announce() }) {
        try await pool.run { try Store.setAgeRule(admitsUnknown: configuration.api.admitsUnknownAge, $0) }
        return try await openAccess(
          exposure, configuration, opened, providers, refusals, in: arguments.value(Option.data.name) ?? ".take5")
      }
      guard let (access, keys) = accessed else {
        await process.run(listening.current, nil, stopWithin: .zero)
        return .success
      }
      let scrub = ScrubQueue()
      let scrubber = Scrubber(
        queue: scrub, recorder: DamageRecorder(blobs: opened.blobs, log: log, metrics: metrics),
        pool: pool)
      let lists = Pool(url.with(statementLimit: DatabaseAccess.readLimit), size: listConnections, boundsWaiting: true)
      let changes = try Changes(database: pool, url: url, access: access, log: log, metrics: metrics)
      let liveness = DatabaseLiveness(at: .now)
      let api = ControlAPI(
        database: pool, lists: lists, store: store, blobs: opened.blobs, definitions: definitions, access: access,
        changes: changes, metrics: metrics, configuration: configuration.api, scrub: scrub, passwords: passwords,
        log: log, onUploadRefusal: { client in refusals.report(RefusalLog.uploads, client: client.description) },
        isLive: { [isEmbedded = opened.database.isEmbedded] in !isEmbedded || liveness.isRecent(at: .now) })
      let server = try listening.server()
      server.use(api.router)
      let worker =
        isWorker
        ? try RestartingWorker(
          configuration: configuration.worker, pool: pool, store: store, blobs: opened.blobs,
          tasks: opened.tasks(configuration, log), couriers: opened.couriers(configuration, log, metrics), log: log,
          metrics: metrics, tracer: opened.tracer)
        : nil
      try listening.announce()
      FilmAddress.show(exposure.address, port: server.port, arguments)
      ServiceManager.notify(.ready, log)

      // These tasks end after the last request.
      let tasks =
        [
          Task { await changes.run() }, Task { await api.run() },
          Task { await refresh(access, keys, liveness, ClockWatch(log, metrics), log) },
          Task { await scrubber.run() },
        ] + providers.list.map { provider in Task { await refresh(provider) } }
      await process.run(server, worker, stopWithin: .seconds(5))
      for task in tasks { task.cancel() }
      for task in tasks { await task.value }
      await lists.close()
      await keys.close()
      return .success
    }
  }

  /// Makes the access control, and reads the API keys; status 64 if other machines could use the service without one.
  private static func openAccess(
    _ exposure: ServiceExposure, _ configuration: ServiceConfiguration, _ opened: OpenedStore,
    _ providers: IdentityProviders, _ refusals: RefusalLog, in data: String
  ) async throws -> (AccessControl, keys: Pool) {
    // Rates are measured with the monotonic clock; the expiry of URLs with the real-time clock, which machines share.
    let start = ContinuousClock.now
    let limits = RateLimits(
      configuration.limits, now: { start.duration(to: .now) / .seconds(1) },
      onRefusal: { limit, client in refusals.report(limit.rawValue, client: client) })
    let access = AccessControl(
      operatorKey: configuration.key, isLoopback: exposure.isLocal, limits: limits,
      tokens: UserTokenCache(opened.database.pool), providers: providers,
      hasAccounts: configuration.hasAccounts, publicURL: configuration.server.publicURL,
      databaseSpace: databaseSpace(configuration, opened, data), now: { Self.now },
      onProxy: { client in refusals.reportProxy(at: client.description) })
    // A connection of its own: a revoked key must be refused within seconds even if all other connections are busy.
    let keys = Pool(opened.database.url.with(statementLimit: .seconds(5)), size: 1)
    do { try await access.refresh(keys) } catch {
      await keys.close()
      throw error
    }
    do throws(CommandFailure) {
      try exposure.check(hasKey: access.hasKey || !providers.list.isEmpty || configuration.hasAccounts)
    } catch {
      await keys.close()
      throw error
    }
    return (access, keys)
  }

  /// Returns what knows whether the database has room; nil: there is no limit.
  private static func databaseSpace(
    _ configuration: ServiceConfiguration, _ opened: OpenedStore, _ data: String
  ) -> DatabaseSpace? {
    if opened.database.isEmbedded { return DatabaseSpace(.free(folder: data, atLeast: configuration.api.minFree)) }
    return configuration.api.maxDatabase.map { DatabaseSpace(.size(atMost: $0)) }
  }

  private static var now: Int {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return time.tv_sec
  }

  private static func refresh(
    _ access: AccessControl, _ keys: Pool, _ liveness: DatabaseLiveness, _ clock: ClockWatch, _ log: Logger
  ) async {
    while (try? await Task.sleep(for: AccessControl.refreshInterval)) != nil {
      do {
        try await access.refresh(keys) { session in try clock.compare(session) }
        liveness.recordReply(at: .now)
      } catch {
        if await keys.isReachable() { liveness.recordReply(at: .now) }
        // The keys read last stay valid: an outage of the database neither locks clients out nor lets others in.
        if !Task.isCancelled { log.warning("the API keys could not be refreshed", ["error": "\(error)"]) }
      }
    }
  }

  /// Reads the key set of an identity provider from time to time.
  private static func refresh(_ provider: IdentityProvider) async {
    while (try? await Task.sleep(for: IdentityProvider.refreshInterval)) != nil {
      await provider.refresh()
    }
  }
}
