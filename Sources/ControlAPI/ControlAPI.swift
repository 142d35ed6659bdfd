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
  private let key: BearerKey?

  /// - Parameters:
  ///   - blobs: where submitted clips are staged; the store's own.
  ///   - definitions: what is made of what is submitted.
  ///   - key: every request needs it, if there is one.
  package init(
    database: Pool, store: Store, blobs: any BlobStore, definitions: SubmissionDefinitions, key: BearerKey?
  ) {
    self.database = database
    self.store = store
    self.blobs = blobs
    self.definitions = definitions
    self.key = key
  }

  /// The routes, for a server.
  package var router: Router {
    let key = key
    return Router(routes: postRoutes + imageRoutes + jobRoutes + mediaRoutes + healthRoutes) {
      (_, _, headers) throws(Problem) in
      try key?.admit(headers)
    }
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
