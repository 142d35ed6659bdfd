package import HTTPServer
internal import Postgres
internal import Store

extension KitHolder {
  /// Returns a route; refusals, and errors of the database and the storage, become problems.
  ///
  /// - Parameters:
  ///   - bodyLimit: the maximum length of the body, in bytes; without it the route accepts no body.
  ///   - readsQuery: whether the handler reads the parameters of the query; without it the route accepts none.
  ///   - includes: whether the handler reads the parameter `include`, and no other.
  ///   - isSafe: whether the handler changes nothing; nil: only a handler of GET.
  ///   - waitsForDisk: whether the handler receives files, and waits until they are on the disk.
  ///   - isResumable: whether the client of a late request goes on from what has arrived.
  package func route(
    _ method: String, _ template: String, access: RouteAccess, bodyLimit: Int64 = 0, readsQuery: Bool = false,
    includes: Bool = false, isSafe: Bool? = nil,
    waitsForDisk: Bool = false, isResumable: Bool = false, handler: @escaping Route.Handler
  ) -> Route {
    let user = Self.userParameter(of: template)
    return Route(
      method, template, bodyLimit: bodyLimit, isSafe: isSafe,
      diskProblem: waitsForDisk ? OutageProblem.hangingDisk : nil,
      isResumable: isResumable,
      access: access, admission: self.access.admission(to: access)
    ) { request in
      do {
        if !readsQuery { try QueryReader.requireNone(request.target, but: includes ? "include" : nil) }
        let request = user.map { request.naming(actingUserAs: $0) } ?? request
        return try await PoolClient.$current.withValue(request.shareHolder.poolClient) { try await handler(request) }
          .revalidated(by: request)
      } catch let refusal as any RequestRefusal {
        throw refusal.problem
      } catch {
        throw OutageProblem.problem(for: error) ?? error
      }
    }
  }

  /// The segment of a path that names a user; nil: none does.
  private static func userParameter(of template: String) -> String? {
    let segments = template.split(separator: "/")
    if segments.starts(with: ["v1", "users", "{id}"]) { return "id" }
    return segments.contains("{user}") ? "user" : nil
  }
}

extension Request {
  /// The name of the acting user in paths. Without one it is an id like any other.
  private static let me = "me"

  /// The same request with the id of the acting user instead of `me`.
  fileprivate func naming(actingUserAs parameter: String) -> Request {
    guard let user = caller.user, self.parameter(parameter) == Self.me else { return self }
    var request = self
    request.parameters[parameter] = user
    return request
  }
}
