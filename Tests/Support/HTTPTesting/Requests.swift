internal import Platform

/// Sends one request on a connection of its own and returns the answer.
///
/// - Parameters:
///   - body: sent with a Content-Length; nil sends none.
package func request(
  _ method: String, _ path: String, port: UInt16, headers: [(String, String)] = [], body: [UInt8]? = nil
) async throws -> ClientResponse {
  try await onThread("client") {
    var connection = try ClientConnection(port: port)
    var head = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n"
    for (name, value) in headers { head += "\(name): \(value)\r\n" }
    if let body { head += "Content-Length: \(body.count)\r\n" }
    // A server that refuses may stop listening midway. What it said before that is still there to be read.
    do {
      try connection.send(Array((head + "\r\n").utf8) + (body ?? []))
    } catch ClientConnection.Failure.closed where body != nil {}
    return try connection.receive(toHead: method == "HEAD")
  }
}

/// Sends the same bytes on a connection of their own and returns the first answer.
package func exchange(_ text: String, port: UInt16) async throws -> ClientResponse {
  try await onThread("client") {
    var connection = try ClientConnection(port: port)
    try connection.send(text)
    return try connection.receive()
  }
}
