internal import CCurl
package import Platform

/// A client of the service's API, based on libcurl; its calls block.
///
/// The environment configures proxies, as for the command curl. Redirects are not followed, so that the API key is sent
/// only to the given server.
package struct HTTPClient: Sendable {
  /// The timeout of a connection including TLS, in seconds.
  static let connectTimeout = 10

  private let server: ServerAddress
  private let apiKey: String?
  private let certificates: String?
  private let timeout: Int
  private let usesProxies: Bool
  private let idle = IdleHandle()

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
  package func get(_ path: String) throws(HTTPClientError) -> HTTPResponse { try perform(path, Transfer()) }

  /// Sends a GET request and writes the body at the current position of a file if the status is 200; the returned
  /// response then has no body.
  package func get(_ path: String, into file: borrowing Descriptor) throws(HTTPClientError) -> HTTPResponse {
    try perform(path, Transfer(file: file.number))
  }

  /// Sends a GET request to a server that is not trusted to respond soon, and with little.
  ///
  /// - Parameters:
  ///   - maxBytes: the length of the body above which the request fails.
  ///   - seconds: the time for the whole request, after which it fails.
  package func get(_ path: String, maxBytes: Int, within seconds: Int) throws(HTTPClientError) -> HTTPResponse {
    try perform(path, Transfer(maxBytes: maxBytes), seconds: seconds)
  }

  /// Sends a multipart form (RFC 7578).
  ///
  /// - Parameter progress: called with the number of bytes of the body that have been sent, and their total number.
  package func post(
    _ path: String, form: [FormPart], method: String = "POST", progress: @escaping (Int64, Int64) -> Void
  ) throws(HTTPClientError) -> HTTPResponse {
    try perform(path, Transfer(progress: progress), form: form, method: method)
  }

  private func perform(
    _ path: String, _ transfer: Transfer, form parts: [FormPart] = [], method: String = "GET", seconds: Int? = nil
  ) throws(HTTPClientError) -> HTTPResponse {
    let handle = try idle.take()
    handle.reset()
    handle.set(CURLOPT_URL, "\(server)\(path)")
    handle.set(CURLOPT_CUSTOMREQUEST, method)
    handle.set(CURLOPT_PROTOCOLS_STR, server.scheme.rawValue)
    // HTTP/2 has no advantage for a connection with one request at a time.
    handle.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    handle.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    handle.set(CURLOPT_CONNECTTIMEOUT, Self.connectTimeout)
    handle.set(CURLOPT_LOW_SPEED_LIMIT, 1)
    handle.set(CURLOPT_LOW_SPEED_TIME, timeout)
    if let seconds { handle.set(CURLOPT_TIMEOUT, seconds) }
    if !usesProxies { handle.set(CURLOPT_NOPROXY, "*") }
    if let certificates { handle.set(CURLOPT_CAINFO, certificates) }
    handle.set(transfer)
    var headers = HeaderList()
    if let apiKey { headers.append("Authorization", "Bearer \(apiKey)") }
    let code: CURLcode
    if parts.isEmpty {
      handle.set(headers)
      code = handle.perform()
    } else {
      // A request that is refused because of its head then does not send its body.
      headers.append("Expect", "100-continue")
      handle.set(headers)
      let form = MimeForm(parts, of: handle, transfer: transfer)
      handle.set(form)
      code = handle.perform()
    }
    guard code == CURLE_OK else {
      throw transfer.failure ?? HTTPClientError(code, of: handle, at: server, timeout: seconds ?? timeout)
    }
    idle.put(handle)
    return transfer.response
  }
}

/// The handle for the next request, with its open connection: a handshake takes longer than most requests.
private final class IdleHandle: Sendable {
  private let handle = Locked<EasyHandle?>(nil)

  func take() throws(HTTPClientError) -> EasyHandle {
    if let idle = handle.withLock({ $0.take() }) { return idle }
    return try EasyHandle()
  }

  func put(_ handle: consuming EasyHandle) {
    var idle: EasyHandle? = consume handle
    self.handle.withLock { swap(&$0, &idle) }
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

/// The reason why a request has no response.
package struct HTTPClientError: Error, Sendable, CustomStringConvertible {
  /// The server, the cause and a remedy, in one line.
  package let description: String

  package init(_ description: String) { self.description = description }

  /// Describes an error of libcurl (libcurl-errors(3)).
  init(_ code: CURLcode, of handle: borrowing EasyHandle, at server: ServerAddress, timeout: Int) {
    let cause = handle.cause(of: code)
    switch code {
    case CURLE_COULDNT_CONNECT:
      self.init("cannot connect to \(server): \(cause); start a service with 'take5 serve', or check the address")
    case CURLE_COULDNT_RESOLVE_HOST:
      self.init("cannot resolve the host of \(server): \(cause); check the name")
    case CURLE_COULDNT_RESOLVE_PROXY:
      self.init(
        "cannot resolve the proxy for \(server): \(cause); check http_proxy, https_proxy, all_proxy and no_proxy")
    case CURLE_OPERATION_TIMEDOUT where !handle.isConnected:
      self.init(
        "cannot connect to \(server) within \(HTTPClient.connectTimeout) s; check the address and the firewalls")
    case CURLE_OPERATION_TIMEDOUT:
      self.init("the connection to \(server) was inactive for \(timeout) s; try again")
    case CURLE_PEER_FAILED_VERIFICATION:
      self.init(
        "the certificate of \(server) is not trusted: \(cause); use a host name of the certificate, or pass your own "
          + "certificate authority with --cacert")
    case CURLE_SSL_CACERT_BADFILE:
      self.init("cannot check the certificate of \(server): \(cause); pass a PEM file of certificates with --cacert")
    case CURLE_SSL_CONNECT_ERROR:
      self.init("the TLS handshake with \(server) failed: \(cause); for a server without TLS, use http://")
    case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE:
      self.init("the connection to \(server) was lost: \(cause); try again")
    default:
      self.init("the request to \(server) failed: \(cause)")
    }
  }
}
