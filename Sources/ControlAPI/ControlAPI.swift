package import Blobs
package import HTTPServer
package import Model

/// The HTTP interface: what an app submits, reads and plays.
package struct ControlAPI: Sendable {
  let store: any ContentStore
  let blobs: any BlobStore
  let limits: Limits
  private let key: BearerKey?

  /// - Parameters:
  ///   - limits: of the definition that submissions are made by.
  ///   - key: every request needs it, if there is one.
  package init(store: any ContentStore, blobs: any BlobStore, limits: Limits, key: BearerKey?) {
    self.store = store
    self.blobs = blobs
    self.limits = limits
    self.key = key
  }

  /// The routes, for a server.
  package var router: Router {
    let key = key
    return Router(routes: postRoutes + jobRoutes + mediaRoutes + healthRoutes) { (_, _, headers) throws(Problem) in
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
