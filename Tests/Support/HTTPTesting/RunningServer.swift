package import HTTPServer

/// Runs a server on a free port of this machine while `body` talks to it, and stops it cleanly.
package func withServer<Value: Sendable>(
  _ configuration: ServerConfiguration = ServerConfiguration(), router: Router,
  observer: ServerObserver = ServerObserver(), _ body: (Server) async throws -> Value
) async throws -> Value {
  let server = try Server(configuration: configuration, router: router, observer: observer)
  async let running: Void = server.run()
  do {
    let value = try await body(server)
    await server.stop(within: .seconds(10))
    await running
    return value
  } catch {
    await server.stop(within: .zero)
    await running
    throw error
  }
}
