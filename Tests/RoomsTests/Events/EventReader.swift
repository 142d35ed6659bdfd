import Definitions
import FoundationEssentials
import HTTPTesting
import Model
import Platform
import Postgres
import Store
import Testing
import WaitTesting

@testable import Kit
@testable import Rooms

/// Reads one stream of server-sent events; its calls block.
struct EventReader: ~Copyable {
  struct Event: Sendable {
    let id: String
    let name: String
    let data: JSONValue
  }

  private var connection: ClientConnection
  private var text = ""

  private init(_ connection: consuming ClientConnection) { self.connection = connection }

  /// - Throws: `Refusal` if the response is not a stream.
  static func open(port: UInt16, _ path: String, _ headers: [(String, String)]) throws -> EventReader {
    var connection = try ClientConnection(port: port)
    let fields = headers.map { "\($0): \($1)\r\n" }.joined()
    try connection.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\(fields)\r\n")
    let head = try connection.receiveHead()
    guard head.hasPrefix("HTTP/1.1 200 ") else { throw Refusal(head: head) }
    return EventReader(connection)
  }

  struct Refusal: Error {
    let head: String
  }

  /// Returns the next event, without comments; nil at the end of the stream.
  mutating func next() throws -> Event? {
    let deadline = Deadline("the next event")
    while true {
      try deadline.check()
      while let end = text.firstRange(of: "\n\n") {
        let block = text[..<end.lowerBound].split(separator: "\n")
        text.removeSubrange(..<end.upperBound)
        func field(_ name: String) -> String? {
          block.first { $0.hasPrefix(name + ": ") }.map { String($0.dropFirst(name.count + 2)) }
        }
        guard let id = field("id"), let name = field("event"), let data = field("data") else { continue }
        let value = try JSONValue(text: Array(data.utf8))
        return Event(id: id, name: name, data: value)
      }
      guard let chunk = try connection.receiveChunk() else { return nil }
      text += String(decoding: chunk, as: UTF8.self)
    }
  }
}

extension RunningAPI {
  /// Opens the stream of a user and reads a number of events, or up to the end of the stream.
  func events(
    _ count: Int, of user: String?, after id: String? = nil, path: String = "/v1/events",
    with credential: [(String, String)] = []
  ) async throws -> [EventReader.Event] {
    let headers =
      credential + (user.map { [("Take5-User", $0)] } ?? []) + (id.map { [("Last-Event-ID", $0)] } ?? [])
    return try await onThread("client") { [port] in
      var reader = try EventReader.open(port: port, path, headers)
      var events: [EventReader.Event] = []
      while events.count < count, let event = try reader.next() { events.append(event) }
      return events
    }
  }

  /// Stores a comment.
  func comment(on post: PublicID, by author: String) async throws {
    try await pool.transaction { session in
      _ = try Comments.insert(on: .post(post), for: .unrestricted, author: author, text: "Nice", session)
    }
  }

  /// Stores a post without media.
  func insertPost(by author: String, visibility: Visibility = .public) async throws -> PublicID {
    try await pool.transaction { try submitPost(by: author, visibility: visibility, $0) }
  }

  /// The same in a transaction of the caller's.
  func submitPost(by author: String, visibility: Visibility = .public, _ session: Session) throws -> PublicID {
    try store.submitPost(
      PostDraft(kind: .marker, author: author, title: "Here", visibility: visibility), sources: [],
      definition: .photos(try #require(try Definitions.photo("photo-post"))), request: nil, session)
  }

  /// The payloads of the notifications about events that follow a transaction.
  func notifications(of act: @Sendable (Session) throws -> Void) async throws -> [String] {
    let (reports, continuation) = AsyncStream.makeStream(of: Listener.Report.self)
    let listener = try #require(try Listener(url, channels: [Store.eventChannel]) { continuation.yield($0) })
    try listener.start()
    defer { listener.stop() }
    var received = reports.makeAsyncIterator()
    #expect(await received.next() == .connected)
    // One connection: its notifications come in the order of its transactions.
    let pool = Pool(url, size: 1)
    try await pool.transaction(act)
    try await pool.run { _ = try $0.execute("SELECT pg_notify('\(Store.eventChannel)', 'end')") }
    await pool.close()
    var payloads: [String] = []
    let deadline = Deadline("the notification after those of the transaction")
    while case .notification(let notification)? = await received.next(), notification.payload != "end" {
      try deadline.check()
      payloads.append(notification.payload)
    }
    return payloads
  }
}
