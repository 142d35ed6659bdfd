internal import CCurl

/// Why a request got no answer.
package struct HTTPClientError: Error, Sendable, CustomStringConvertible {
  /// Where, why, and what helps, in a line.
  package let description: String

  package init(_ description: String) { self.description = description }

  /// What libcurl gave up (libcurl-errors(3)).
  init(_ code: CURLcode, of handle: borrowing EasyHandle, at server: ServerAddress, timeout: Int) {
    let cause = handle.cause(of: code)
    switch code {
    case CURLE_COULDNT_CONNECT:
      self.init("no service answers at \(server): \(cause); start one with 'take5 serve', or check the address")
    case CURLE_COULDNT_RESOLVE_HOST:
      self.init("\(server) is not known here: \(cause); check the name")
    case CURLE_COULDNT_RESOLVE_PROXY:
      self.init("\(server) is not reached: \(cause); check http_proxy, https_proxy, all_proxy and no_proxy")
    case CURLE_OPERATION_TIMEDOUT where !handle.isConnected:
      self.init(
        "\(server) does not answer within \(HTTPClient.connectTimeout) s; check the address, and the firewalls between")
    case CURLE_OPERATION_TIMEDOUT:
      self.init("\(server) neither took nor sent anything for \(timeout) s; try again")
    case CURLE_PEER_FAILED_VERIFICATION:
      self.init(
        "\(server) is not trusted: \(cause); use the name that its certificate is for, and name a certificate authority "
          + "of your own with --cacert")
    case CURLE_SSL_CACERT_BADFILE:
      self.init("\(server) is not asked: \(cause); name a file of certificates in PEM with --cacert")
    case CURLE_SSL_CONNECT_ERROR:
      self.init("\(server) speaks no TLS that is understood: \(cause); an address without TLS begins with http://")
    case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE:
      self.init("the connection to \(server) broke: \(cause); try again")
    default:
      self.init("\(server) gave no answer: \(cause)")
    }
  }
}
