package import Platform

/// Why a server could not start.
package enum ServerError: Error, CustomStringConvertible {
  /// The host is no address and no name that resolves to one.
  case unknownHost(String, reason: String)
  /// The system refused the socket: the port is taken, or the address is not this machine's.
  case cannotListen(SystemError)
  /// The system gave no thread or descriptor.
  case cannotStart(SystemError)

  package var description: String {
    switch self {
    case .unknownHost(let host, let reason): "cannot listen on \(host): \(reason)"
    case .cannotListen(let error): "cannot listen: \(error); choose another address or port"
    case .cannotStart(let error): "the HTTP server cannot start: \(error); raise the limits of threads and open files"
    }
  }
}
