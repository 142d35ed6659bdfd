internal import CCurl
package import Platform

/// A client for the service's own API, over libcurl; its calls block.
///
/// Proxies are those of the environment, as the command curl takes them. Redirects are answers like others: a key goes
/// nowhere but to the server that was named.
package struct HTTPClient: Sendable {
  /// For so many seconds a connection may be waited for, TLS included.
  static let connectTimeout = 10

  private let server: ServerAddress
  private let apiKey: String?
  private let certificates: String?
  private let timeout: Int
  private let idle = IdleHandle()

  /// - Parameters:
  ///   - certificates: a file of the certificates that are trusted, in PEM; nil: the system's.
  ///   - timeout: after so many seconds without a byte in either direction a request is given up.
  package init(server: ServerAddress, apiKey: String? = nil, certificates: String? = nil, timeout: Int = 60) {
    self.server = server
    self.apiKey = apiKey
    self.certificates = certificates
    self.timeout = timeout
  }

  /// Asks for something.
  package func get(_ path: String) throws(HTTPClientError) -> HTTPAnswer { try perform(path, Exchange()) }

  /// Asks for something that is written at the current position of a file as it comes, if the status is 200: the answer
  /// has no body then.
  package func get(_ path: String, into file: borrowing Descriptor) throws(HTTPClientError) -> HTTPAnswer {
    try perform(path, Exchange(file: file.number))
  }

  /// Sends a form of several parts (RFC 7578), files as they lie on the disk.
  ///
  /// - Parameter progress: told how many bytes of the body are sent, and of how many.
  package func post(
    _ path: String, form: [FormPart], method: String = "POST", progress: @escaping (Int64, Int64) -> Void
  ) throws(HTTPClientError) -> HTTPAnswer {
    try perform(path, Exchange(progress: progress), form: form, method: method)
  }

  private func perform(
    _ path: String, _ exchange: Exchange, form parts: [FormPart] = [], method: String = "GET"
  ) throws(HTTPClientError) -> HTTPAnswer {
    let handle = try idle.take()
    handle.reset()
    handle.set(CURLOPT_URL, "\(server)\(path)")
    handle.set(CURLOPT_CUSTOMREQUEST, method)
    handle.set(CURLOPT_PROTOCOLS_STR, server.scheme.rawValue)
    // One connection a request at a time gains nothing by HTTP/2.
    handle.set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
    handle.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    handle.set(CURLOPT_CONNECTTIMEOUT, Self.connectTimeout)
    handle.set(CURLOPT_LOW_SPEED_LIMIT, 1)
    handle.set(CURLOPT_LOW_SPEED_TIME, timeout)
    if let certificates { handle.set(CURLOPT_CAINFO, certificates) }
    handle.set(exchange)
    var headers = HeaderList()
    if let apiKey { headers.append("Authorization", "Bearer \(apiKey)") }
    let code: CURLcode
    if parts.isEmpty {
      handle.set(headers)
      code = handle.perform()
    } else {
      // Whoever is refused by the head alone sends no body.
      headers.append("Expect", "100-continue")
      handle.set(headers)
      let form = MimeForm(parts, of: handle, exchange: exchange)
      handle.set(form)
      code = handle.perform()
    }
    guard code == CURLE_OK else {
      throw exchange.failure ?? HTTPClientError(code, of: handle, at: server, timeout: timeout)
    }
    idle.give(handle)
    return exchange.answer
  }
}

/// A handle that waits for the next request, with its connection: a handshake costs more than most answers.
private final class IdleHandle: Sendable {
  private let handle = Locked<EasyHandle?>(nil)

  func take() throws(HTTPClientError) -> EasyHandle {
    if let kept = handle.withLock({ $0.take() }) { return kept }
    return try EasyHandle()
  }

  func give(_ handle: consuming EasyHandle) {
    var given: EasyHandle? = consume handle
    self.handle.withLock { swap(&$0, &given) }
  }
}
