import Glibc
import HTTPTesting
import Platform
import WaitTesting

/// A client that keeps requests in progress, and the responses with which the service refuses further ones.
final class Attacker {
  /// A connection as a reference, because an array cannot hold noncopyable values.
  private final class Held {
    var connection: ClientConnection

    init(port: UInt16, from address: String) throws { connection = try ClientConnection(port: port, from: address) }
  }

  private let port: UInt16
  private let address: String
  /// The header fields of each request.
  private let fields: String
  private var held: [Held] = []
  /// The responses to the requests that the service has refused, in their order.
  private(set) var refused: [ClientResponse] = []

  /// - Parameter address: the local address of the connections.
  init(port: UInt16, from address: String = "127.0.0.66", token: String? = nil) {
    self.port = port
    self.address = address
    fields = "Host: localhost\r\n" + (token.map { "Authorization: Bearer \($0)\r\n" } ?? "")
  }

  /// The number of requests that it holds.
  var count: Int { held.count }

  /// Sends requests without the end of their bodies: the service has admitted each once it asks for the body.
  ///
  /// - Parameters:
  ///   - head: the request line and fields.
  ///   - length: the length that the body is said to have.
  func begin(_ count: Int, _ head: String, length: Int) throws {
    for _ in 0..<count {
      let client = try Held(port: port, from: address)
      try client.connection.send(
        "\(head)\r\n\(fields)Content-Length: \(length)\r\nExpect: 100-continue\r\n\r\n")
      var response = try ClientResponse(head: client.connection.receiveHead())
      // The URL of an upload precedes the question for its body.
      let deadline = Deadline("the last response")
      while response.status == 104 {
        try deadline.check()
        response = try ClientResponse(head: client.connection.receiveHead())
      }
      if response.status == 100 {
        try client.connection.send("{")
        held.append(client)
      } else {
        refused.append(response)
      }
    }
  }

  /// Opens connections, and sends nothing.
  func connect(_ count: Int) throws {
    for _ in 0..<count { held.append(try Held(port: port, from: address)) }
  }

  /// Returns once the service has closed or answered so many of the connections.
  func waitUntilEnded(_ count: Int) throws {
    let deadline = Deadline("the end of \(count) connections")
    while held.count(where: { $0.connection.isReadable(within: 0) }) < count {
      try deadline.check()
      sched_yield()
    }
  }

  /// Begins streams, which do not end.
  func stream(_ count: Int, _ path: String) throws {
    for _ in 0..<count {
      let client = try Held(port: port, from: address)
      try client.connection.send("GET \(path) HTTP/1.1\r\n\(fields)\r\n")
      let response = try ClientResponse(head: client.connection.receiveHead())
      if response.status == 200 { held.append(client) } else { refused.append(response) }
    }
  }

  /// Sends requests at once, and holds them until `finish` receives their responses.
  func ask(_ count: Int, _ request: String, body: String = "") throws {
    for _ in 0..<count {
      let client = try Held(port: port, from: address)
      let length = body.isEmpty ? "" : "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
      try client.connection.send("\(request)\r\n\(fields)\(length)\r\n\(body)")
      held.append(client)
    }
  }

  /// Sends requests whose bodies never come to their end, without waiting for anything.
  func trickle(_ count: Int, _ head: String, length: Int) throws {
    for _ in 0..<count {
      let client = try Held(port: port, from: address)
      try client.connection.send("\(head)\r\n\(fields)Content-Length: \(length)\r\n\r\n{")
      held.append(client)
    }
  }

  /// Receives the responses to all requests that it holds.
  func finish() throws -> [ClientResponse] {
    defer { held = [] }
    return try held.map { try $0.connection.receive() }
  }

  /// Closes all connections.
  func leave() { held = [] }
}
