internal import CCurl
package import Platform

/// A client of the service's API, based on libcurl; its calls block.
///
/// The environment configures proxies, as for the command curl. Redirects are not followed, so that the API key is sent
/// only to the given server.
package struct HTTPClient: Sendable {
  /// The timeout of a connection including TLS, in seconds.
  static let connectTimeout = 10
  /// The time in seconds after which the body is sent without `100 Continue`: a round trip on a mobile link may take longer
  /// than the second that libcurl waits by default.
  private static let continueTimeout = 5
  /// Who asks: firewalls refuse requests that do not say it.
  private static let agent = "take5/\(ThisProcess.version)"

  private let server: ServerAddress
  private let apiKey: String?
  private let certificates: String?
  private let timeout: Int
  private let usesProxies: Bool
  private let idle = IdleHandles()
  private let manners = Manners()

  /// - Parameters:
  ///   - certificates: a file of trusted certificates in PEM; nil: the certificates of the system.
  ///   - timeout: the time without a byte in either direction after which a request fails, in seconds.
  ///   - usesProxies: whether the proxies of the environment are used.
  package init(
    server: ServerAddress, apiKey: String? = nil, certificates: String? = nil, timeout: Int = 60,
    usesProxies: Bool = true
  ) {
    self.server = server
    self.apiKey = apiKey
    self.certificates = certificates
    self.timeout = timeout
    self.usesProxies = usesProxies
  }

  /// Sends a GET request.
  package func get(_ path: String) throws(HTTPClientError) -> HTTPResponse { try send(HTTPRequest("GET", path)) }

  /// Sends a GET request to a server that is not trusted to respond soon, and with little.
  ///
  /// - Parameters:
  ///   - maxBytes: the length of the body above which the request fails.
  ///   - seconds: the time for the whole request, after which it fails.
  package func get(_ path: String, maxBytes: Int, within seconds: Int) throws(HTTPClientError) -> HTTPResponse {
    try perform(HTTPRequest("GET", path), Transfer(maxBytes: maxBytes), seconds: seconds)
  }

  /// Sends a request to a server that a client of the service has named: only to an address that `admits` accepts, which
  /// is the one that is connected to, and reads no more of the body of the response than `maxBytes`. The head of the
  /// response is enough: its body may have no end, or not come within the time.
  ///
  /// - Parameter seconds: the time for the whole request, after which it fails without the head of a response.
  package func send(
    _ request: HTTPRequest, cutAt maxBytes: Int, within seconds: Int,
    admitting admits: @escaping @Sendable (IPAddress) -> Bool
  ) throws(HTTPClientError) -> HTTPResponse {
    try perform(request, Transfer(maxBytes: maxBytes, cuts: true, admits: admits), seconds: seconds)
  }

  /// Sends a request.
  ///
  /// - Parameter continues: called with the number of bytes of the body that have been sent, at least once a second; false
  ///   aborts the request.
  package func send(
    _ request: HTTPRequest, continues: @escaping (Int64) -> Bool = { _ in true }
  ) throws(HTTPClientError) -> HTTPResponse {
    try perform(request, Transfer(continues: continues))
  }

  /// Sends a request and writes the body of the response at the current position of a file if the status is 200; the
  /// returned response then has no body.
  package func send(
    _ request: HTTPRequest, into file: borrowing Descriptor, continues: @escaping (Int64) -> Bool = { _ in true }
  ) throws(HTTPClientError) -> HTTPResponse {
    try perform(request, Transfer(file: file.number, continues: continues))
  }

  private func perform(
    _ request: HTTPRequest, _ transfer: Transfer, seconds: Int? = nil
  ) throws(HTTPClientError) -> HTTPResponse {
    let handle = try idle.take()
    handle.reset()
    handle.set(CURLOPT_URL, "\(server)\(request.path)")
    handle.set(CURLOPT_CUSTOMREQUEST, request.method)
    if request.method == "HEAD" { handle.set(CURLOPT_NOBODY, 1) }
    handle.set(CURLOPT_PROTOCOLS_STR, server.scheme.rawValue)
    // HTTP/2 has no advantage for a connection with one request at a time.
    handle.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    handle.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    handle.set(CURLOPT_USERAGENT, Self.agent)
    handle.set(CURLOPT_CONNECTTIMEOUT, Self.connectTimeout)
    let timeout = request.timeout ?? timeout
    handle.set(CURLOPT_LOW_SPEED_LIMIT, 1)
    handle.set(CURLOPT_LOW_SPEED_TIME, timeout)
    if let seconds { handle.set(CURLOPT_TIMEOUT, seconds) }
    if !usesProxies { handle.set(CURLOPT_NOPROXY, "*") }
    if let certificates { handle.set(CURLOPT_CAINFO, certificates) }
    handle.set(transfer)
    var headers = HeaderList()
    if let apiKey { headers.append("Authorization", "Bearer \(apiKey)") }
    for (name, value) in request.headers { headers.append(name, value) }
    switch request.body {
    case .none:
      // A server may insist on a length (RFC 9110, section 8.6), and libcurl sends none without a body.
      if ["POST", "PUT", "PATCH"].contains(request.method) { headers.append("Content-Length", "0") }
    // Without an empty value libcurl sends its own.
    case .bytes: headers.append("Expect", "")
    case .file where manners.ignoresExpect.withLock(\.self): headers.append("Expect", "")
    case .file:
      // A request that is refused because of its head then does not send its body.
      headers.append("Expect", "100-continue")
      handle.set(CURLOPT_EXPECT_100_TIMEOUT_MS, Self.continueTimeout * 1000)
    }
    handle.set(headers)
    let body = BodyReader(request.body, transfer)
    handle.set(body)
    let code = withExtendedLifetime(body) { handle.perform() }
    guard code == CURLE_OK || transfer.isAnswered else {
      throw transfer.failure ?? HTTPClientError(code, of: handle, at: server, timeout: seconds ?? timeout)
    }
    if case .file = request.body, body.offset > 0, !transfer.isAskedForBody, 200..<300 ~= transfer.response.status {
      manners.ignoresExpect.withLock { $0 = true }
    }
    idle.put(handle)
    return transfer.response
  }
}

/// The facts that are known of the server.
private final class Manners: Sendable {
  /// Whether it, or a proxy before it, has accepted a body that it never asked for: the next one is not held back.
  let ignoresExpect = Locked(false)
}

/// The handles for the next requests, with their open connections: a handshake takes longer than most requests.
private struct IdleHandles: Sendable {
  /// A handle, if no request has taken it.
  private final class Place: Sendable {
    private let handle = Locked<EasyHandle?>(nil)

    func take() -> EasyHandle? { handle.withLock { $0.take() } }

    /// Returns the handle that the place had before.
    func swap(_ handle: consuming EasyHandle?) -> EasyHandle? {
      var other: EasyHandle? = consume handle
      self.handle.withLock { Swift.swap(&$0, &other) }
      return other
    }
  }

  private let places = (0..<16).map { _ in Place() }

  func take() throws(HTTPClientError) -> EasyHandle {
    for place in places { if let idle = place.take() { return idle } }
    return try EasyHandle()
  }

  /// Keeps a handle; beyond the number of places one is closed.
  func put(_ handle: consuming EasyHandle) {
    var rest: EasyHandle? = consume handle
    for place in places {
      rest = place.swap(rest)
      if rest == nil { return }
    }
  }
}

/// A response of the service.
package struct HTTPResponse: Sendable {
  package let status: Int
  /// The header fields, by their names in lowercase.
  package let headers: [String: String]
  package let body: [UInt8]

  package init(status: Int, headers: [String: String], body: [UInt8]) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}
