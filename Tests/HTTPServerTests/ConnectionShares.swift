import Glibc
import HTTPServer
import HTTPTesting
import Platform
import Testing

/// A server whose clients have shares of its connections, threads and memory.
enum ConnectionShares {
  /// A client whose header field `Authorization` is `key NAME` or `user NAME` has authenticated.
  struct Named: Principal {
    let shareHolder: ShareHolder?

    init(_ head: RequestHead) {
      let words = (head.headers["Authorization"] ?? "").split(separator: " ").map(String.init)
      shareHolder = words.count < 2 ? nil : words[0] == "key" ? .key(words[1]) : .user(Array(words[1].utf8))
    }
  }

  static let known: Route.Admission = { (head, _) throws(Problem) in .known(Named(head)) }
  static let pending: Route.Admission = { (head, _) throws(Problem) in .pending { Named(head) } }

  /// `/wait` responds with a stream that does not end, `/count` with the length of the body, `/hello` immediately.
  static func router(_ admission: @escaping Route.Admission = known) -> Router {
    Router(routes: [
      Route("GET", "/wait", admission: admission) { _ in Response(.ok, body: .stream(BodyStream())) },
      Route("POST", "/count", bodyLimit: 1 << 20, admission: admission) { request in
        Response(.ok, body: .bytes(Array("\(try await request.body.collect(upTo: 1 << 20).count)".utf8)))
      },
      Route("GET", "/hello", admission: admission) { _ in Response(.ok) },
    ])
  }

  static var configuration: ServerConfiguration {
    var configuration = ServerConfiguration()
    configuration.networkThreads = 1
    return configuration
  }
}

/// The names of requests, as they were admitted.
final class AdmissionOrder: Sendable {
  private let list = Locked<[String]>([])
  var names: [String] { list.withLock { $0 } }
  func add(_ name: String) { list.withLock { $0.append(name) } }
}

/// A connection as a class, so that an array can store it.
final class SharingClient: @unchecked Sendable {
  var connection: ClientConnection

  init(_ port: UInt16, from address: String? = nil, room: Int32? = nil) throws {
    connection = try ClientConnection(port: port, from: address, room: room)
  }

  /// Sends a request without a body.
  convenience init(_ path: String, _ port: UInt16, from address: String? = nil, as name: String? = nil) throws {
    try self.init(port, from: address)
    try send(path, as: name)
  }

  func send(_ path: String, as name: String? = nil) throws {
    let field = name.map { "Authorization: \($0)\r\n" } ?? ""
    try connection.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\(field)\r\n")
  }

  func status() throws -> Int { try connection.receive().status }

  func isReadable(within milliseconds: Int32) -> Bool { connection.isReadable(within: milliseconds) }
}
