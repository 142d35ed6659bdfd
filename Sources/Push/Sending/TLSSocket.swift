internal import CPush
import Glibc
import Platform

/// The settings of all connections (SSL_CTX_new(3)): TLS 1.2 or later, verified certificates, HTTP/2 by ALPN.
struct TLSContext: ~Copyable {
  fileprivate let handle: OpaquePointer

  /// - Parameter certificates: a file of trusted certificates in PEM; nil: the certificates of the system.
  init(certificates: String?) throws(PushError) {
    Library.load()
    SharedLibraries.open("libssl.so.3")
    // It fails only without memory.
    guard let handle = SSL_CTX_new(TLS_client_method()) else { fatalError("SSL_CTX_new") }
    self.handle = handle
    cpush_require_tls12(handle)
    cpush_set_partial_writes(handle)
    SSL_CTX_set_verify(handle, SSL_VERIFY_PEER, nil)
    let protocols: [UInt8] = [2] + Array("h2".utf8)
    SSL_CTX_set_alpn_protos(handle, protocols, UInt32(clamping: protocols.count))
    guard let certificates else {
      SSL_CTX_set_default_verify_paths(handle)
      return
    }
    guard SSL_CTX_load_verify_file(handle, certificates) == 1 else {
      throw PushError(.invalidCredentials, "\(certificates): it is not a file of certificates in PEM")
    }
  }

  deinit { SSL_CTX_free(handle) }
}

/// A non-blocking connection by TLS (ssl(7)).
struct TLSSocket: ~Copyable {
  enum Result {
    case moved(Int)
    /// It waits for the socket to become readable or writable.
    case waits(EventPoll.Condition)
    case closed
  }

  let descriptor: Descriptor
  private let handle: OpaquePointer

  init(
    _ descriptor: consuming Descriptor, _ context: borrowing TLSContext, host: String
  ) throws(SystemError) {
    // It fails only without memory.
    guard let handle = SSL_new(context.handle) else { fatalError("SSL_new") }
    let isNamed =
      IPAddress(host) == nil
      ? SSL_set1_host(handle, host) == 1 && cpush_set_server_name(handle, host) == 1
      : X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(handle), host) == 1
    // OpenSSL would accept the certificate of any host.
    guard isNamed, SSL_set_fd(handle, descriptor.number) == 1 else {
      SSL_free(handle)
      ERR_clear_error()
      throw SystemError(call: "SSL_set1_host", code: EINVAL)
    }
    self.handle = handle
    self.descriptor = descriptor
  }

  deinit { SSL_free(handle) }

  /// Continues the handshake; `moved` once it is complete.
  func handshake() -> Result { result(SSL_connect(handle)) }

  /// Whether the server has chosen HTTP/2.
  var isHTTP2: Bool {
    var name: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    SSL_get0_alpn_selected(handle, &name, &count)
    return Array(UnsafeBufferPointer(start: name, count: Int(count))) == Array("h2".utf8)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> Result {
    result(cpush_read(handle, buffer.baseAddress, Int32(clamping: buffer.count)))
  }

  func write(_ bytes: UnsafeRawBufferPointer) -> Result {
    result(cpush_write(handle, bytes.baseAddress, Int32(clamping: bytes.count)))
  }

  /// Why the handshake failed.
  var problem: String {
    let code = SSL_get_verify_result(handle)
    guard code == X509_V_OK else { return "its certificate: \(String(cString: X509_verify_cert_error_string(code)))" }
    return "the TLS handshake failed"
  }

  private func result(_ count: Int32) -> Result {
    if count > 0 { return .moved(Int(count)) }
    defer { ERR_clear_error() }
    switch SSL_get_error(handle, count) {
    case SSL_ERROR_WANT_READ: return .waits(.readable)
    case SSL_ERROR_WANT_WRITE: return .waits(.writable)
    default: return .closed
    }
  }
}
