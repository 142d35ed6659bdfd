package import HTTPServer
internal import Platform

/// Sends one request on a new connection and returns the response.
///
/// - Parameters:
///   - body: sent with a Content-Length; nil: no body.
package func request(
  _ method: String, _ path: String, port: UInt16, headers: [(String, String)] = [], body: [UInt8]? = nil
) async throws -> ClientResponse {
  try await onThread("client") {
    var connection = try ClientConnection(port: port)
    var head = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n"
    for (name, value) in headers { head += "\(name): \(value)\r\n" }
    if let body { head += "Content-Length: \(body.count)\r\n" }
    // A server that refuses a request may stop receiving the body. The response can still be read.
    do {
      try connection.send(Array((head + "\r\n").utf8) + (body ?? []))
    } catch ClientConnection.Failure.closed where body != nil {}
    return try connection.receive(toHead: method == "HEAD")
  }
}

/// Sends exactly the given bytes on a new connection and returns the first response.
package func exchange(_ text: String, port: UInt16) async throws -> ClientResponse {
  try await onThread("client") {
    var connection = try ClientConnection(port: port)
    try connection.send(text)
    return try connection.receive()
  }
}

/// Runs a server on a free port during `body`, and stops it.
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

/// Runs a server during `body`, which blocks, on the thread of a client.
package func withClient(
  _ configuration: ServerConfiguration, router: Router, observer: ServerObserver = ServerObserver(),
  _ body: @escaping @Sendable (UInt16) throws -> Void
) async throws {
  try await withServer(configuration, router: router, observer: observer) { server in
    let port = server.port
    try await onThread("client") { try body(port) }
  }
}

/// A multipart/form-data body.
package struct MultipartForm: Sendable {
  package var boundary = "take5-test-boundary"
  private var content: [UInt8] = []

  package init() {}

  /// Adds a part; a nil file name makes it a plain field.
  package mutating func add(
    _ name: String, filename: String? = nil, contentType: String? = nil, _ bytes: [UInt8]
  ) {
    var head = "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\""
    if let filename { head += "; filename=\"\(filename)\"" }
    if let contentType { head += "\r\nContent-Type: \(contentType)" }
    content += Array((head + "\r\n\r\n").utf8) + bytes + Array("\r\n".utf8)
  }

  /// The complete body.
  package var bytes: [UInt8] { content + Array("--\(boundary)--\r\n".utf8) }

  /// The Content-Type of the body.
  package var contentType: String { "multipart/form-data; boundary=\(boundary)" }
}
