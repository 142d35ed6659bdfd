internal import Blobs
internal import HTTPServer
internal import Kit
internal import Model
internal import Postgres
internal import Queue
internal import Store
internal import Telemetry

/// The routes of health checks, and of metrics in the text format of Prometheus.
struct ServiceRoutes: RouteRoom {
  let kit: Kit
  let reads: BlobReads
  let space: MediaSpace
  let isLive: @Sendable () -> Bool
  /// Everybody may ask, and each check uses the threads of all.
  private let readiness = SharedCheck<Void>()
  /// The figures of the database cost a connection for as long as they take.
  private let measurement = SharedCheck<[MetricGauge]>()

  init(kit: Kit, reads: BlobReads, space: MediaSpace, isLive: @escaping @Sendable () -> Bool) {
    (self.kit, self.reads, self.space, self.isLive) = (kit, reads, space, isLive)
  }

  var routes: [Route] {
    [
      Route("/livez", admission: access.admission(to: .unlimited), answer: readLiveness),
      // What a probe adds to the path does not matter: the service would be taken for dead.
      route("GET", "/readyz", access: .anyone, readsQuery: true, handler: readReadiness),
      route("GET", "/metrics", access: .key([.admin]), handler: readMetrics),
    ]
  }

  private func readLiveness(_ request: Request) throws(Problem) -> Response {
    guard isLive() else {
      throw ProblemKind.databaseUnavailable.problem(
        "The embedded database has been unavailable for too long; restart the service.",
        headers: ["Retry-After": "5"])
    }
    return Self.healthy("live")
  }

  /// Checks that submissions with media can be stored, in a few seconds. This does not need a worker.
  private func readReadiness(_ request: Request) async throws -> Response {
    let (store, database, space, reads) = (store, database, space, reads)
    try await readiness.run {
      try await database.run { try store.check($0) }
      try space.requireFree(try await reads.check())
    }
    return Self.healthy("ready")
  }

  static func healthy(_ status: String) -> Response {
    .json(.ok, Array(#"{"status":"\#(status)"}"#.utf8), headers: ["Cache-Control": "no-store"])
  }

  private func readMetrics(_ request: Request) async throws -> Response {
    // Without the database the gauges of the queue are absent; the counters of this process are returned.
    // Sooner than Prometheus gives up.
    let database = database
    let gauges = try? await measurement.run {
      // With the limits of what reads: one that waits would hold up every other one.
      try await database.read(timeout: .seconds(2)) { try OperationGauges.measure($0) }
    }
    // Absent as well, while the storage does not answer.
    var own = [Self.databaseUp(gauges != nil)]
    do { own += space.gauges(free: try await reads.freeBytes()) } catch {}
    return Self.metrics(kit.metrics, (gauges ?? []) + own)
  }

  static func databaseUp(_ isUp: Bool) -> MetricGauge {
    MetricGauge("take5_database_up", "Whether the database is available.", [:], isUp ? 1 : 0)
  }

  /// The metrics of a process in the text format of Prometheus, with gauges.
  static func metrics(_ metrics: Metrics, _ gauges: [MetricGauge]) -> Response {
    Response(
      .ok, headers: ["Content-Type": "text/plain; version=0.0.4; charset=utf-8", "Cache-Control": "no-store"],
      body: .bytes(Array(metrics.text(with: gauges).utf8)))
  }
}
