internal import CCurl

/// The reason why a request has no response.
package struct HTTPClientError: Error, Sendable, CustomStringConvertible {
  /// What a later request may change.
  package enum Kind: Sendable {
    /// No connection was established.
    case unreachable
    /// The connection was established, and lost.
    case lost
    /// The caller aborted the request.
    case aborted
    /// Anything else, such as a file that cannot be read.
    case other
  }

  package let kind: Kind
  /// The cause as libcurl or the system says it.
  package let cause: String
  /// The server, the cause and a remedy, in one line.
  package let description: String

  package init(_ description: String) { self.init(.other, description, description) }

  package init(_ kind: Kind, _ cause: String, _ description: String) {
    self.kind = kind
    self.cause = cause
    self.description = description
  }

  /// Describes an error of libcurl (libcurl-errors(3)).
  init(_ code: CURLcode, of handle: borrowing EasyHandle, at server: ServerAddress, timeout: Int) {
    let cause = handle.cause(of: code)
    switch code {
    case CURLE_COULDNT_CONNECT:
      self.init(
        .unreachable, cause,
        "cannot connect to \(server): \(cause); start a service with 'take5 serve', or check the address")
    case CURLE_COULDNT_RESOLVE_HOST:
      self.init(.unreachable, cause, "cannot resolve the host of \(server): \(cause); check the name")
    case CURLE_COULDNT_RESOLVE_PROXY:
      self.init(
        .unreachable, cause,
        "cannot resolve the proxy for \(server): \(cause); check http_proxy, https_proxy, all_proxy and no_proxy")
    case CURLE_OPERATION_TIMEDOUT where !handle.isConnected:
      let limit = "within \(HTTPClient.connectTimeout) s"
      self.init(
        .unreachable, "no connection \(limit)",
        "cannot connect to \(server) \(limit); check the address and the firewalls")
    case CURLE_OPERATION_TIMEDOUT:
      self.init(
        .lost, "it was inactive for \(timeout) s",
        "the connection to \(server) was inactive for \(timeout) s; try again")
    case CURLE_PEER_FAILED_VERIFICATION:
      self.init(
        .unreachable, cause,
        "the certificate of \(server) is not trusted: \(cause); use a host name of the certificate, or pass your own "
          + "certificate authority with --cacert")
    case CURLE_SSL_CACERT_BADFILE:
      self.init("cannot check the certificate of \(server): \(cause); pass a PEM file of certificates with --cacert")
    case CURLE_SSL_CONNECT_ERROR:
      self.init(
        .unreachable, cause,
        "the TLS handshake with \(server) failed: \(cause); for a server without TLS, use http://")
    case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE:
      self.init(.lost, cause, "the connection to \(server) was lost: \(cause); try again")
    case CURLE_ABORTED_BY_CALLBACK:
      self.init(.aborted, cause, "the request to \(server) was aborted")
    default:
      self.init(.unreachable, cause, "the request to \(server) failed: \(cause)")
    }
  }
}
