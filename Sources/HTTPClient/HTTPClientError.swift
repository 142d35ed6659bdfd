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

  /// What failed, which names neither a host nor an address.
  package enum Stage: Sendable {
    /// The name of the server has no address.
    case resolution
    /// The server has an address to which the caller does not connect.
    case admission
    case connection
    /// The handshake of TLS, or the check of the certificate.
    case security
    /// Nothing came within the time.
    case time
    /// The connection was lost.
    case transfer
    case other
  }

  package let kind: Kind
  package let stage: Stage
  /// The cause as libcurl or the system says it.
  package let cause: String
  /// The server, the cause and a remedy, in one line.
  package let description: String

  package init(_ description: String, at stage: Stage = .other) {
    self.init(.other, description, description, at: stage)
  }

  package init(_ kind: Kind, _ cause: String, _ description: String, at stage: Stage = .other) {
    self.kind = kind
    self.stage = stage
    self.cause = cause
    self.description = description
  }

  /// Describes an error of libcurl (libcurl-errors(3)).
  init(_ code: CURLcode, of handle: borrowing EasyHandle, at server: ServerAddress, timeout: Int) {
    let cause = handle.cause(of: code)
    let stage = Stage(code)
    switch code {
    case CURLE_COULDNT_CONNECT:
      self.init(
        .unreachable, cause,
        "cannot connect to \(server): \(cause); start a service with 'take5 serve', or check the address",
        at: stage)
    case CURLE_COULDNT_RESOLVE_HOST:
      self.init(.unreachable, cause, "cannot resolve the host of \(server): \(cause); check the name", at: stage)
    case CURLE_COULDNT_RESOLVE_PROXY:
      self.init(
        .unreachable, cause,
        "cannot resolve the proxy for \(server): \(cause); check http_proxy, https_proxy, all_proxy and no_proxy",
        at: stage)
    case CURLE_OPERATION_TIMEDOUT where !handle.isConnected:
      let limit = "within \(HTTPClient.connectTimeout) s"
      self.init(
        .unreachable, "no connection \(limit)",
        "cannot connect to \(server) \(limit); check the address and the firewalls", at: stage)
    case CURLE_OPERATION_TIMEDOUT:
      self.init(
        .lost, "it was inactive for \(timeout) s",
        "the connection to \(server) was inactive for \(timeout) s; try again", at: stage)
    case CURLE_PEER_FAILED_VERIFICATION:
      self.init(
        .unreachable, cause,
        "the certificate of \(server) is not trusted: \(cause); use a host name of the certificate, or pass your own "
          + "certificate authority with --cacert", at: stage)
    case CURLE_SSL_CACERT_BADFILE:
      self.init(
        "cannot check the certificate of \(server): \(cause); pass a PEM file of certificates with --cacert", at: stage)
    case CURLE_SSL_CONNECT_ERROR:
      self.init(
        .unreachable, cause,
        "the TLS handshake with \(server) failed: \(cause); for a server without TLS, use http://", at: stage)
    case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE:
      self.init(.lost, cause, "the connection to \(server) was lost: \(cause); try again", at: stage)
    case CURLE_ABORTED_BY_CALLBACK:
      self.init(.aborted, cause, "the request to \(server) was aborted", at: stage)
    default:
      self.init(.unreachable, cause, "the request to \(server) failed: \(cause)", at: stage)
    }
  }
}

extension HTTPClientError.Stage {
  /// The stage of an error of libcurl.
  fileprivate init(_ code: CURLcode) {
    switch code {
    case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: self = .resolution
    case CURLE_COULDNT_CONNECT: self = .connection
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CONNECT_ERROR: self = .security
    case CURLE_OPERATION_TIMEDOUT: self = .time
    case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE: self = .transfer
    default: self = .other
    }
  }
}
