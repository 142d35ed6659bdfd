/// Finds the route of a request from its head alone.
package struct Router: Sendable {
  /// Looks at every head before routing, and refuses it by throwing (authentication).
  package typealias Admission = @Sendable (_ method: String, RequestTarget, HeaderFields) throws(Problem) -> Void

  /// Whatever is served, the most specific first.
  package let routes: [Route]
  private let admission: Admission

  package init(routes: [Route], admission: @escaping Admission = { (_, _, _) throws(Problem) in }) {
    self.routes = routes.sorted { $0.pattern.specificity > $1.pattern.specificity }
    self.admission = admission
  }

  /// A route and what its places hold.
  struct Match {
    let route: Route
    let parameters: [String: String]
  }

  /// The route for a head; throws 404, 405 with Allow, or what the admission said.
  func match(method: String, target: RequestTarget, headers: HeaderFields) throws(Problem) -> Match {
    try admission(method, target, headers)
    let fitting = routes.compactMap { route in
      route.pattern.match(target.segments).map { Match(route: route, parameters: $0) }
    }
    // A path belongs to the most specific pattern alone: the methods of another one mean something else.
    let onPath = fitting.prefix { $0.route.pattern.specificity == fitting.first?.route.pattern.specificity }
    guard !onPath.isEmpty else {
      throw Problem(
        .notFound, detail: "Nothing is served at \(target.path).",
        remedy: "Check the path; identifiers are part of it, and it has no slash at its end.")
    }
    let wanted = method == "HEAD" ? "GET" : method
    guard let match = onPath.first(where: { $0.route.method == wanted }) else {
      let methods = Set(onPath.flatMap { $0.route.method == "GET" ? ["GET", "HEAD"] : [$0.route.method] })
      let allowed = methods.sorted().joined(separator: ", ")
      throw Problem(
        .methodNotAllowed, detail: "\(target.path) does not take \(method).", remedy: "Use one of: \(allowed).",
        headers: ["Allow": allowed])
    }
    return match
  }
}
