import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Sends requests with the credential of the session, repeats what is harmless, and reads responses.
final class Connection: Sendable {
  let url: URL
  let session: URLSession
  let sessions: SessionKeeper
  /// The prefix of paths; nil if the URL does not name a service.
  let base: String?

  init(url: URL, tokens: any TokenStore, configuration: URLSessionConfiguration) {
    self.url = url
    base = Self.base(of: url)
    session = URLSession(configuration: configuration)
    sessions = SessionKeeper(tokens: tokens)
  }

  /// The URL of a path of the service; a whole URL stays as it is, and so does a path with the prefix that the service has at its proxy.
  func url(_ path: String) -> URL {
    guard path.utf8.first == UInt8(ascii: "/") else { return URL(string: path) ?? url }
    let prefix = url.path
    let isWhole = prefix.utf8.count > 1 && path.utf8.starts(with: "\(prefix)/v1/".utf8)
    return URL(string: (base.map { isWhole ? String($0.dropLast(prefix.count)) : $0 } ?? "") + path) ?? url
  }

  /// Sends a request, and decodes the JSON of its response.
  func value<Value: Decodable>(_ request: Request) async throws(Take5Error) -> Value {
    try JSONCoding.value(try await response(request).body)
  }

  /// Sends a request, repeats it if that is harmless and may succeed, and throws what the service refuses.
  func response(_ request: Request) async throws(Take5Error) -> Response {
    var (failures, isLost) = (0, false)
    while true {
      do throws(Take5Error) {
        return try await exchange(request)
      } catch {
        // The attempt whose response was lost has deleted it.
        if request.method == "DELETE", isLost, error.status == 404 {
          return Response(status: 204, headers: [:], body: Data())
        }
        failures += 1
        guard request.isSafe, failures <= request.retries, error.isPassing else { throw error }
        isLost = isLost || error.status == nil
        try await Retry.pause(Retry.delay(failures: failures, error))
      }
    }
  }

  /// Sends a request once, and once more with a renewed token if the service does not accept the first one.
  private func exchange(_ request: Request) async throws(Take5Error) -> Response {
    try checkAddress()
    guard !request.isOpen else { return try await send(request, token: nil) }
    let token = try await token(of: request.user)
    do throws(Take5Error) {
      return try await send(request, token: token)
    } catch {
      guard error.status == 401 else { throw error }
      return try await send(request, token: try await self.token(of: request.user, after: token, error))
    }
  }

  /// The token for a request of a user; nil: of who is signed in.
  func token(of user: String? = nil) async throws(Take5Error) -> String {
    try await sessions.token(of: user, renewing: renew)
  }

  /// The token after the service has refused one.
  func token(of user: String? = nil, after refused: String, _ error: Take5Error) async throws(Take5Error) -> String {
    try await sessions.token(of: user, after: refused, error, renewing: renew)
  }

  /// The next session for a refresh token. A repetition gets the same one until one of its tokens is used, so it is safe.
  private func renew(_ refreshToken: String) async throws(Take5Error) -> Session {
    var request = Request(
      "POST", "/v1/sessions/refresh", json: ["refresh_token": .string(refreshToken)], isOpen: true, isSafe: true)
    request.timeout = 10
    return try await value(request)
  }

  /// What URLSession sends.
  func urlRequest(_ request: Request, token: String?) -> URLRequest {
    var result = URLRequest(url: url(request.target), cachePolicy: .reloadIgnoringLocalCacheData)
    result.httpMethod = request.method
    result.timeoutInterval = request.timeout
    result.setValue("application/json", forHTTPHeaderField: "Accept")
    result.setValue(request.contentType, forHTTPHeaderField: "Content-Type")
    result.setValue(token.map { "Bearer \($0)" }, forHTTPHeaderField: "Authorization")
    result.setValue(request.key.map { "\"\($0)\"" }, forHTTPHeaderField: "Idempotency-Key")
    for (name, value) in request.headers { result.setValue(value, forHTTPHeaderField: name) }
    return result
  }

  private func send(_ request: Request, token: String?) async throws(Take5Error) -> Response {
    let sent = urlRequest(request, token: token)
    let (data, response): (Data, URLResponse)
    do {
      if let body = request.body {
        (data, response) = try await upload(sent, body)
      } else {
        (data, response) = try await session.data(for: sent)
      }
    } catch {
      throw Self.error(error)
    }
    return try Self.response(response, data)
  }

  private func upload(_ request: URLRequest, _ body: Data) async throws -> (Data, URLResponse) {
    #if canImport(FoundationNetworking)
      // When a connection that was used before breaks, libcurl repeats the request, and FoundationNetworking does not rewind the body:
      // it would send the rest of the bytes in place of all. A connection of its own is not repeated.
      let session = URLSession(configuration: session.configuration)
      defer { session.finishTasksAndInvalidate() }
    #endif
    return try await session.upload(for: request, from: body)
  }

  static func error(_ error: any Error) -> Take5Error {
    let isCancelled = error is CancellationError || (error as? URLError)?.code == .cancelled
    return isCancelled ? .cancelled : .unreachable(error.localizedDescription)
  }

  /// The response of the service, or its problem.
  static func response(_ response: URLResponse, _ body: Data) throws(Take5Error) -> Response {
    guard let http = response as? HTTPURLResponse else { throw .unreadable("it is not HTTP") }
    let fields = http.allHeaderFields.compactMap { name, value in
      (name as? String).map { ($0.lowercased(), "\(value)") }
    }
    let result = Response(
      status: http.statusCode, headers: Dictionary(fields) { first, _ in first }, body: body)
    if (200...299).contains(result.status) { return result }
    let after = result.header("Retry-After").flatMap(UInt32.init).map(TimeInterval.init)
    let problem = Problem(
      status: result.status, body: body, requestID: result.header("X-Request-Id"), retryAfter: after)
    if let problem { throw .problem(problem) }
    // A response without a problem: the response to HEAD, which has no body, or a proxy's.
    let code: ProblemCode = result.status == 401 ? .unauthorized : .bare(result.status)
    var bare = Problem(code: code, title: "Status \(result.status)", status: result.status)
    (bare.requestID, bare.retryAfter) = (result.header("X-Request-Id"), after)
    throw .problem(bare)
  }
}
