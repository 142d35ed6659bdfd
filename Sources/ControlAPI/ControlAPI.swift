package import Blobs
package import HTTPServer
internal import Model
package import Postgres
package import Store

/// The HTTP interface: what an app submits, reads and plays.
package struct ControlAPI: Sendable {
  let database: Pool
  let store: Store
  let blobs: any BlobStore
  let definitions: SubmissionDefinitions
  let access: AccessControl
  let watch: JobWatch

  /// - Parameters:
  ///   - blobs: where submitted clips are staged; the store's own.
  ///   - definitions: what is made of what is submitted.
  ///   - access: who may ask for what.
  ///   - watch: tells of jobs; it runs as long as the API is served.
  package init(
    database: Pool, store: Store, blobs: any BlobStore, definitions: SubmissionDefinitions,
    access: AccessControl, watch: JobWatch
  ) {
    self.database = database
    self.store = store
    self.blobs = blobs
    self.definitions = definitions
    self.access = access
    self.watch = watch
  }

  /// The routes, for a server.
  package var router: Router {
    let access = access
    return Router(
      routes: postRoutes + listRoutes + commentRoutes + imageRoutes + jobRoutes + mediaRoutes + healthRoutes
        + documentRoutes
    ) { (method, target, headers) throws(Problem) in try access.admit(method, target, headers) }
  }

  /// A route whose failures of database and storage become the problems that they are.
  func route(
    _ method: String, _ template: String, bodyLimit: Int64 = 0, handler: @escaping Route.Handler
  ) -> Route {
    Route(method, template, bodyLimit: bodyLimit) { request in
      do {
        return try await handler(request)
      } catch {
        throw OutageProblem.problem(for: error) ?? error
      }
    }
  }
}
