package import Blobs
package import HTTPServer
package import Metrics
internal import Model
package import Postgres
package import Store

/// The HTTP interface: what an app submits, reads and plays.
package struct ControlAPI: Sendable {
  let database: Pool
  let lists: Pool
  let store: Store
  let blobs: any BlobStore
  let room: MediaRoom
  let uploads: UploadLimit
  let definitions: SubmissionDefinitions
  let access: AccessControl
  let watch: JobChangeNotifier
  let metrics: Metrics
  let isLive: @Sendable () -> Bool
  let scrub: ScrubQueue

  /// - Parameters:
  ///   - lists: the same database for lists that may have much to look through, with a limit for statements.
  ///   - blobs: where submitted clips are staged; the store's own.
  ///   - definitions: what is made of what is submitted.
  ///   - access: who may ask for what.
  ///   - watch: tells of jobs; it runs as long as the API is served.
  ///   - metrics: what is done is counted there, and told at `/metrics`.
  ///   - minFree: with less room for media, in bytes, none are taken in.
  ///   - uploads: how many submissions are taken in at a time.
  ///   - scrub: is offered the blobs that are served, to be read to their ends.
  ///   - isLive: whether the process can go on as it is; if not, whoever looks after it should start it anew.
  package init(
    database: Pool, lists: Pool, store: Store, blobs: any BlobStore, definitions: SubmissionDefinitions,
    access: AccessControl, watch: JobChangeNotifier, metrics: Metrics, minFree: Int64 = 256 << 20,
    uploads: UploadLimit = UploadLimit(), scrub: ScrubQueue, isLive: @escaping @Sendable () -> Bool = { true }
  ) {
    self.database = database
    self.lists = lists
    self.store = store
    self.blobs = blobs
    self.definitions = definitions
    self.access = access
    self.watch = watch
    self.metrics = metrics
    self.isLive = isLive
    self.scrub = scrub
    room = MediaRoom(blobs: blobs, minFree: minFree)
    self.uploads = uploads
    metrics.measure {
      [MetricGauge("take5_uploads", "Submissions that are being taken in.", [:], Double(uploads.count))]
    }
  }

  /// The routes, for a server.
  package var router: Router {
    let access = access
    return Router(
      routes: postRoutes + listRoutes + commentRoutes + imageRoutes + jobRoutes + operatingRoutes + mediaRoutes
        + healthRoutes + metricRoutes + documentRoutes + windowRoutes
    ) { (head, client) throws(Problem) in try access.admit(head, from: client, needs: nil) }
  }

  /// A route whose failures of database and storage become the problems that they are.
  ///
  /// - Parameters:
  ///   - scopes: what a key must admit to; without any the route is open to everybody.
  ///   - admission: how heads are judged instead.
  func route(
    _ method: String, _ template: String, needs scopes: Set<Scope>, bodyLimit: Int64 = 0, isSafe: Bool? = nil,
    admission: Route.Admission? = nil, handler: @escaping Route.Handler
  ) -> Route {
    let access = access
    let byScope: Route.Admission = { (head, client) throws(Problem) in
      try access.admit(head, from: client, needs: scopes)
    }
    // Written out: as an autoclosure it breaks the compiler.
    let judge = if let admission { admission } else { byScope }
    return Route(method, template, bodyLimit: bodyLimit, isSafe: isSafe, admission: judge) { request in
      do {
        return try await handler(request)
      } catch {
        throw OutageProblem.problem(for: error) ?? error
      }
    }
  }
}
