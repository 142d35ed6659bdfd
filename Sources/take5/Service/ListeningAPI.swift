import HTTPServer
import Platform

/// The server of a service, which listens when the service can serve, or before that when it begins to wait for its database.
final class ListeningAPI: Sendable {
  private struct State {
    var server: Server?
    var isAnnounced = false
  }

  private let state = Locked(State())
  private let listen: @Sendable () throws -> Server
  private let onListening: @Sendable (Server) throws -> Void

  /// - Parameters:
  ///   - listen: makes the server.
  ///   - onListening: says where it listens.
  init(
    listen: @escaping @Sendable () throws -> Server, onListening: @escaping @Sendable (Server) throws -> Void
  ) {
    (self.listen, self.onListening) = (listen, onListening)
  }

  /// The server if it listens.
  var current: Server? { state.withLock(\.server) }

  /// The server, which listens from the first call on. One task at a time calls this.
  func server() throws -> Server {
    if let server = state.withLock(\.server) { return server }
    let server = try listen()
    state.withLock { $0.server = server }
    return server
  }

  /// Says where the server listens, the first time.
  func announce() throws {
    let server = try server()
    let isFirst = state.withLock { state in
      defer { state.isAnnounced = true }
      return !state.isAnnounced
    }
    if isFirst { try onListening(server) }
  }
}
