import HTTPTesting

/// A connection that asked for `/events`, in a class so that a test can hold many; one thread uses it.
final class StreamClient {
  var connection: ClientConnection
  /// The head of the answer.
  let response: ClientResponse

  /// Sends the request and receives the head of the answer.
  init(port: UInt16, method: String = "GET", version: String = "HTTP/1.1") throws {
    connection = try ClientConnection(port: port)
    try connection.send("\(method) /events \(version)\r\nHost: x\r\n\r\n")
    response = try connection.receive(toHead: true)
  }

  /// The next chunk as text; nil at the end of the body.
  func receiveChunk() throws -> String? {
    try connection.receiveChunk().map { String(decoding: $0, as: UTF8.self) }
  }

  /// Whether the connection still serves: asks for `/hello`.
  func isUsable() throws -> Bool {
    try connection.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
    return try connection.receive().text == "hello"
  }
}
