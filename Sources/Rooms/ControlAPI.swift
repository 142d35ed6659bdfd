package import Blobs
package import HTTPServer
package import Kit
package import Model
package import Platform
package import Postgres
package import Store
package import Telemetry

/// The HTTP API: routes for submitting, reading and playing posts and images, and for operating the service. `run()` must run
/// while it is served.
package struct ControlAPI: KitHolder {
  package let kit: Kit
  let rooms: [any RouteRoom]
  let uploads: UploadRoutes

  /// - Parameters:
  ///   - lists: a second pool for the same database, with a statement timeout, for lists that may scan many rows.
  ///   - blobs: the blob store that uploads are staged in; the same one that `store` uses.
  ///   - definitions: the definitions that submissions are processed with.
  ///   - access: authorizes requests and limits their rate.
  ///   - changes: notifies waiting clients; its `run()` must run while the API is served.
  ///   - metrics: the registry that the API counts in and that `/metrics` returns.
  ///   - onUploadRefusal: called with the address of each client that has too many submissions or parts of uploads; it must
  ///     not block.
  ///   - scrub: receives the blobs that are served, so that their content is verified later.
  ///   - passwords: compares the passwords of accounts; nil: the service has no accounts.
  ///   - isLive: whether the process works; `/livez` returns 503 otherwise, and a supervisor should restart the process.
  package init(
    database: Pool, lists: Pool, store: Store, blobs: any BlobStore, definitions: SubmissionDefinitions,
    access: AccessControl, changes: Changes, metrics: Metrics, configuration: Configuration = Configuration(),
    scrub: ScrubQueue, passwords: PasswordWork? = nil, log: Logger,
    onUploadRefusal: @escaping @Sendable (IPAddress) -> Void = { _ in },
    isLive: @escaping @Sendable () -> Bool = { true }
  ) {
    let kit = Kit(
      database: database, lists: lists, store: store, writes: BlobWrites(blobs), access: access,
      quotas: configuration.quotas, definitions: definitions, metrics: metrics, log: log)
    let reads = BlobReads(blobs, limits: configuration.reads)
    let local = LocalUploads(
      kit: kit, blobs: blobs, lifetime: configuration.uploadLifetime, idle: configuration.uploadIdle,
      openUploads: OpenUploads(configuration.openUploads, maxBytes: definitions.maxBytes))
    let space = MediaSpace(blobs: blobs, minFree: configuration.minFree, uploads: local.openUploads)
    let limit = SharedLimit(
      "concurrent submission", max: configuration.maxSubmissions, userShare: MediaSubmissions.userSubmissions,
      onRefusal: onUploadRefusal)
    let waits = SharedLimit("waiting request", max: MediaSubmissions.maxWaits, userShare: MediaSubmissions.userWaits)
    let submissions = MediaSubmissions(
      kit: kit, space: space, uploads: local, limit: limit, jobs: changes.jobs, waits: waits)
    let uploads = UploadRoutes(
      kit: kit, uploads: local, space: space,
      parts: SharedLimit(
        "concurrent upload part", max: UploadRoutes.maxUploadParts, userShare: UploadRoutes.userUploadParts,
        onRefusal: onUploadRefusal))
    let media = MediaRoutes(kit: kit, reads: reads, scrub: scrub, redirects: configuration.redirectsMedia)
    let images = ImageRoutes(kit: kit, submissions: submissions, media: media)
    let events = EventRoutes(kit: kit, changes: changes)
    self.kit = kit
    self.uploads = uploads
    let described: [any RouteRoom] =
      [
        PostRoutes(kit: kit, submissions: submissions), uploads, images, media, events,
        JobRoutes(kit: kit, jobs: changes.jobs, streams: changes.streams, waits: waits),
        ExportRoutes(kit: kit, streams: changes.streams, reads: reads),
        AccountRoutes(kit: kit, passwords: passwords, check: configuration.registrationCheck),
        UserRoutes(kit: kit, permit: AddressCheck(kit: kit, passwords: passwords).permit),
        CodeRoutes(kit: kit, passwords: passwords),
        CollectionRoutes(kit: kit, images: images),
        ModerationRoutes(kit: kit, events: events),
        ServiceRoutes(kit: kit, reads: reads, space: space, isLive: isLive),
        OperationsRoutes(kit: kit, reads: reads, space: space),
        WindowRoutes(kit: kit, option: configuration.windowSchedule),
      ] + Self.routes(kit, configuration)
    rooms =
      described + [
        DocumentRoutes(kit: kit, others: described.flatMap(\.routes)),
        ConsoleRoutes(kit: kit, mediaOrigin: configuration.redirectsMedia ? blobs.urlOrigin : nil),
      ]
    metrics.measure {
      [
        MetricGauge("take5_uploads", "Submissions that are being received.", [:], Double(limit.count)),
        MetricGauge("take5_event_streams", "Open streams of events.", [:], Double(changes.streams.count)),
        MetricGauge(
          "take5_passwords", "Passwords that are hashed or compared, or wait for it.", [:],
          Double(passwords?.count ?? 0)),
      ]
    }
  }

  /// The router for an HTTP server. A path without a route is reported only to clients with a key, as `.key([])`.
  package var router: Router {
    Router(
      routes: rooms.flatMap(\.routes), fallbackAdmission: access.admission(to: .key([])), commonFields: uploads.fields)
  }

  /// The router of a service that waits for its database: the process is live, its metrics say why it does not serve, and everything else
  /// gets 503.
  package static var waitingRouter: Router {
    let routes = [
      Route("/livez", admission: Route.open) { (_) throws(Problem) in ServiceRoutes.healthy("live") },
      // For everyone, as the keys are in the database: it says no more than the 503 of everything else.
      Route("/metrics", admission: Route.open) { (_) throws(Problem) in
        ServiceRoutes.metrics(Metrics(), [ServiceRoutes.databaseUp(false)])
      },
    ]
    let refused: Route.Admission = { (_, _) throws(Problem) in
      throw ProblemKind.databaseUnavailable.problem(
        "The service waits for its database.", headers: ["Retry-After": "5"])
    }
    return Router(routes: routes, fallbackAdmission: refused)
  }

  /// Processes posts as their uploads become whole, removes uploads that have expired, and notes which tokens are used, until the task
  /// is cancelled.
  package func run() async {
    await withDiscardingTaskGroup { group in
      group.addTask { await uploads.uploads.run() }
      group.addTask { await access.tokens.noteUses(in: database) }
      if let space = access.databaseSpace { group.addTask { await space.follow(database, kit.log) } }
    }
  }
}

extension ControlAPI {
  /// What an operator decides about the API.
  package struct Configuration: Sendable {
    /// The free space in bytes below which no media are accepted.
    package var minFree: Int64 = 256 << 20
    /// Whether users whose birth dates are unknown see posts from an age on.
    package var admitsUnknownAge = true
    /// The size in bytes of a database on another machine above which nothing is stored; nil: any.
    package var maxDatabase: Int64?
    /// The maximum number of friends of a user.
    package var maxFriends = Relations.maxFriends
    /// The maximum number of submissions that are received at the same time.
    package var maxSubmissions = 1024
    /// The lifetime of an upload that no submission has used, in seconds.
    package var uploadLifetime = 86_400.0
    /// Its lifetime without a byte while it is not whole, unless a post awaits it.
    package var uploadIdle = 3600.0
    /// What one client may have in uploads that no submission has used.
    package var openUploads = OpenUploads.Limits()
    /// What users and API keys may send on a day.
    package var quotas = Quotas()
    /// How long clients wait for blobs.
    package var reads = BlobReads.Limits()
    /// When the daily window opens while no operator has set a schedule; nil: this process has none.
    package var windowSchedule: WindowSchedule?
    /// The settings of single rooms.
    package var rooms = RoomSettings()
    /// What decides on each registration; nil: everybody may register.
    package var registrationCheck: RegistrationCheck?
    /// Whether clients read media from the blob store itself, if that has URLs.
    package var redirectsMedia = false

    package init() {}
  }
}
