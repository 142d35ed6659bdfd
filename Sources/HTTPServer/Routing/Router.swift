internal import Platform

/// Finds the route of a request from its head alone.
package struct Router: Sendable {
  /// Whatever is served, the most specific first.
  package let routes: [Route]
  private let elsewhere: Route.Admission

  /// - Parameter elsewhere: judges the heads that no route is for, before they hear so.
  package init(
    routes: [Route], elsewhere: @escaping Route.Admission = { (_, _) throws(Problem) in nil }
  ) {
    self.routes = routes.sorted { $0.pattern.specificity > $1.pattern.specificity }
    self.elsewhere = elsewhere
  }

  /// A route, what its places hold, and who asks.
  struct Match {
    let route: Route
    let parameters: [String: String]
    var principal: String?
  }

  /// The route for a head; throws 404, 405 with Allow, or what the admission said.
  func match(_ head: RequestHead, from client: IPAddress) throws(Problem) -> Match {
    let target = head.target
    let fitting = routes.compactMap { route in
      route.pattern.match(target.segments).map { Match(route: route, parameters: $0) }
    }
    // A path belongs to the most specific pattern alone: the methods of another one mean something else.
    let onPath = fitting.prefix { $0.route.pattern.specificity == fitting.first?.route.pattern.specificity }
    let wanted = head.method == "HEAD" ? "GET" : head.method
    if var match = onPath.first(where: { $0.route.method == wanted }) {
      match.principal = try match.route.admission(head, client)
      return match
    }
    _ = try elsewhere(head, client)
    guard !onPath.isEmpty else {
      throw Problem(
        .notFound, detail: "Nothing is served at \(target.path).",
        remedy: "Check the path; identifiers are part of it, and it has no slash at its end.")
    }
    let methods = Set(onPath.flatMap { $0.route.method == "GET" ? ["GET", "HEAD"] : [$0.route.method] })
    let allowed = methods.sorted().joined(separator: ", ")
    throw Problem(
      .methodNotAllowed, detail: "\(target.path) does not take \(head.method).", remedy: "Use one of: \(allowed).",
      headers: ["Allow": allowed])
  }
}
