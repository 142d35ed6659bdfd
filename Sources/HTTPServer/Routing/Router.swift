package import Platform

/// Selects the route of a request by its head.
package struct Router: Sendable {
  /// All routes, the most specific first.
  package let routes: [Route]
  private let routesByLength: [Int: [Route]]
  private let fallbackAdmission: Route.Admission
  /// The header fields that every response to a request has, also if the request is refused before it reaches a handler.
  let commonFields: @Sendable (RequestHead) -> HeaderFields

  /// - Parameters:
  ///   - fallbackAdmission: checks a request without a route, before the response is 404 or 405.
  ///   - commonFields: returns the header fields of every response to a request; the response's own fields replace them.
  package init(
    routes: [Route], fallbackAdmission: @escaping Route.Admission = Route.open,
    commonFields: @escaping @Sendable (RequestHead) -> HeaderFields = { _ in [:] }
  ) {
    self.routes = routes.sorted { $0.pattern.specificity > $1.pattern.specificity }
    routesByLength = Dictionary(grouping: self.routes, by: \.pattern.length)
    self.fallbackAdmission = fallbackAdmission
    self.commonFields = commonFields
  }

  /// A route, the values of its path parameters, and the result of its admission.
  struct Match {
    let route: Route
    let parameters: [String: String]
    var admitted = Admitted.known(Anonymous())
    /// Whether the path has no such route: `route` refuses the request once its client is known.
    var isRefused = false

    /// The credential of the client; nil if it has none, or if it is not known yet.
    var shareHolder: ShareHolder? { if case .known(let principal) = admitted { principal.shareHolder } else { nil } }
  }

  /// Returns the route for a head; throws 404, 405 with Allow, or the problem of the admission.
  func match(_ head: RequestHead, from client: IPAddress) throws(Problem) -> Match {
    let target = head.target
    let matches = (routesByLength[target.segments.count] ?? []).compactMap { route in
      route.pattern.match(target.segments).map { Match(route: route, parameters: $0) }
    }
    // A path belongs to the most specific pattern only: the methods of other patterns have another meaning.
    let candidates = matches.prefix { $0.route.pattern.specificity == matches.first?.route.pattern.specificity }
    let method = head.method == "HEAD" ? "GET" : head.method
    if var match = candidates.first(where: { $0.route.method == method }) {
      match.admitted = try match.route.admission(head, client)
      return match
    }
    let admitted = try fallbackAdmission(head, client)
    let problem = Self.problem(head, candidates)
    guard case .pending = admitted else { throw problem }
    let route = Route(head.method, target.path, bodyLimit: .max, admission: fallbackAdmission) { _ in throw problem }
    return Match(route: route, parameters: [:], admitted: admitted, isRefused: true)
  }

  /// Returns the problem of a request without a route.
  private static func problem(_ head: RequestHead, _ candidates: some Sequence<Match>) -> Problem {
    let target = head.target
    let methods = Set(candidates.flatMap { $0.route.method == "GET" ? ["GET", "HEAD"] : [$0.route.method] })
    guard !methods.isEmpty else {
      return Problem(
        .resourceNotFound, detail: "No resource at \(target.path).",
        remedy: "Check the path and the identifiers in it; it must not end with a slash.")
    }
    let allowed = methods.sorted().joined(separator: ", ")
    return Problem(
      .methodNotAllowed, detail: "\(target.path) does not support \(head.method).", remedy: "Use one of: \(allowed).",
      headers: ["Allow": allowed])
  }
}

/// A method and a path pattern, with the handler of their requests.
package struct Route: Sendable {
  /// Checks a head and the address of its client before the body is read; throws a problem to refuse the request. It runs
  /// on a network thread and must not block.
  package typealias Admission = @Sendable (RequestHead, IPAddress) throws(Problem) -> Admitted
  /// Handles a request; a thrown `Problem` becomes the response, any other error becomes 500.
  package typealias Handler = @Sendable (Request) async throws -> Response
  /// Responds to a request at once.
  package typealias Answer = @Sendable (Request) throws(Problem) -> Response

  /// Admits every request as anonymous. It has to be named: a route without an admission does not compile.
  package static let open: Admission = { (_, _) throws(Problem) in .known(Anonymous()) }

  package let method: String
  let pattern: PathPattern
  /// The text of the pattern, for logs and metrics that must not contain the path.
  package let template: String
  /// The maximum length of the body, in bytes.
  package let bodyLimit: Int64
  /// Whether the request is safe, so that its handler is cancelled when the client disconnects (RFC 9110, section
  /// 9.2.1).
  let isSafe: Bool
  /// The problem of a disk that hangs, for a handler that waits for the disk, as in uploads (fsync(2)); nil: it waits for none.
  /// It runs on threads of its own, so that no other request waits behind it.
  let diskProblem: Problem?
  /// Whether a client whose body arrives slowly continues behind the bytes that have arrived.
  package let isResumable: Bool
  /// What `admission` checks, in the terms of the program whose route it is.
  package let access: (any Sendable)?
  let admission: Admission
  let handler: Handler
  /// Takes the place of the handler, on the network thread: nothing that other requests do delays it.
  let answer: Answer?

  /// - Parameters:
  ///   - method: GET also handles HEAD.
  ///   - template: a path whose `{name}` segments match any text; `Request.parameter(_:)` returns the matched text.
  ///   - bodyLimit: in bytes; a longer body is refused with 413, before it is read if it has a Content-Length.
  ///   - isSafe: whether the handler changes nothing; nil: only a handler of GET.
  ///   - diskProblem: the problem of a disk that hangs, for a handler that waits for the disk.
  ///   - isResumable: whether the client of a late request goes on from what has arrived. Its connection is then closed without
  ///     a response, and the time for the request grows with what arrives.
  package init(
    _ method: String, _ template: String, bodyLimit: Int64 = 0, isSafe: Bool? = nil, diskProblem: Problem? = nil,
    isResumable: Bool = false, access: (any Sendable)? = nil, admission: @escaping Admission,
    handler: @escaping Handler
  ) {
    self.method = method
    pattern = PathPattern(template)
    self.template = template
    self.bodyLimit = min(bodyLimit, RequestHead.maxBodyBytes)
    self.isSafe = isSafe ?? (method == "GET")
    self.diskProblem = diskProblem
    self.isResumable = isResumable
    self.access = access
    self.admission = admission
    self.handler = handler
    answer = nil
  }

  /// Creates a route of GET whose requests need neither a body nor a handler's thread.
  ///
  /// - Parameter answer: must not wait for anything.
  package init(_ template: String, admission: @escaping Admission, answer: @escaping Answer) {
    method = "GET"
    pattern = PathPattern(template)
    self.template = template
    bodyLimit = 0
    isSafe = true
    diskProblem = nil
    isResumable = false
    access = nil
    self.admission = admission
    handler = { try answer($0) }
    self.answer = answer
  }
}

/// The result of an admission that does not refuse a request.
package enum Admitted: Sendable {
  /// The client is known.
  case known(any Principal)
  /// The client is known after waiting, for example for a database. The closure runs before the handler, and its error
  /// refuses the request; nothing of the body is read before. Until then the client is anonymous.
  case pending(@Sendable () async throws -> any Principal)
}

/// A path with parameters, such as `/v1/posts/{id}`.
struct PathPattern: Sendable, Hashable {
  private enum Segment: Sendable, Hashable {
    case literal(String)
    case capture(String)
  }

  private let segments: [Segment]

  init(_ pattern: String) {
    segments = pattern.utf8.split(separator: UInt8(ascii: "/")).map { segment in
      segment.first == UInt8(ascii: "{") && segment.last == UInt8(ascii: "}")
        ? .capture(String(Substring(segment.dropFirst().dropLast()))) : .literal(String(Substring(segment)))
    }
  }

  /// The number of segments.
  var length: Int { segments.count }

  /// The values of the parameters; nil if the path does not match. A parameter does not match an empty segment.
  func match(_ path: [String]) -> [String: String]? {
    guard path.count == segments.count else { return nil }
    var values: [String: String] = [:]
    for (segment, text) in zip(segments, path) {
      switch segment {
      case .literal(let literal): if !literal.utf8.elementsEqual(text.utf8) { return nil }
      case .capture(let name):
        if text.isEmpty { return nil }
        values[name] = text
      }
    }
    return values
  }

  /// The number of literal segments; of two patterns that match a path, the more specific one is used.
  var specificity: Int {
    segments.count { if case .literal = $0 { true } else { false } }
  }
}
