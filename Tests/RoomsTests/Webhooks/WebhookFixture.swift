import HTTPServer
import HTTPTesting
import Model
import Platform
import Postgres
import Queue
import Store
import Telemetry
import Testing
import WaitTesting

@testable import Kit
@testable import Rooms

/// A service, and an endpoint of webhooks on this machine.
final class WebhookFixture: Sendable {
  struct Message: Sendable {
    let id: String
    let timestamp: String
    let signature: String
    let headers: HeaderFields
    let body: [UInt8]

    var json: JSONValue { (try? JSONValue(text: body)) ?? .null }
    var post: String? { json["data"]["post"].text }
    var comment: String? { json["data"]["comment"].text }
  }

  static let key = [("Authorization", "Bearer t5-webhooks")]

  let api: RunningAPI
  let port: UInt16
  private let endpoint: Endpoint
  let log = Locked<[String]>([])

  private init(_ api: RunningAPI, _ port: UInt16, _ endpoint: Endpoint) {
    self.api = api
    self.port = port
    self.endpoint = endpoint
  }

  private final class Endpoint: Sendable {
    let received = Locked<[Message]>([])
    let reply = Locked<@Sendable (Message) async throws -> Response>({ _ in Response(.noContent) })

    func receive(_ request: Request) async throws -> Response {
      let message = Message(
        id: request.headers["webhook-id"] ?? "", timestamp: request.headers["webhook-timestamp"] ?? "",
        signature: request.headers["webhook-signature"] ?? "", headers: request.headers,
        body: try await request.body.collect(upTo: 1 << 20))
      received.withLock { $0.append(message) }
      let reply = self.reply.withLock { $0 }
      return try await reply(message)
    }
  }

  static func with(permits: String = "127.0.0.1", _ body: (WebhookFixture) async throws -> Void) async throws {
    let endpoint = Endpoint()
    var setting = RunningAPI.Setting()
    setting.api.rooms.webhookPermits = try #require(WebhookPermits(permits))
    let routes = ["/hook", "/other"].map {
      Route("POST", $0, bodyLimit: 1 << 20, admission: Route.open) { try await endpoint.receive($0) }
    }
    try await withServer(router: Router(routes: routes)) { server in
      try await RunningAPI.with(setting) { api in
        _ = try await api.createKey("t5-webhooks", [.webhooks, .tokens])
        try await body(WebhookFixture(api, server.port, endpoint))
      }
    }
  }

  /// What the endpoint has received since the last call.
  func received() -> [Message] {
    endpoint.received.withLock { messages in
      defer { messages = [] }
      return messages
    }
  }

  func reply(_ reply: @escaping @Sendable (Message) async throws -> Response) {
    endpoint.reply.withLock { $0 = reply }
  }

  func reply(_ status: Status, _ headers: HeaderFields = [:], _ text: String = "") {
    reply { _ in Response(status, headers: headers, body: .bytes(Array(text.utf8))) }
  }

  /// A request of an operator.
  func send(_ method: String, _ path: String = "", _ body: String? = nil) async throws -> ClientResponse {
    try await UserClient.send(method, "/v1/webhooks" + path, Self.key, body, api)
  }

  /// Creates a webhook, and returns its id.
  func create(_ kinds: [UserEvent.Kind] = [.comment]) async throws -> String {
    let names = kinds.map { "\"\($0.rawValue)\"" }.joined(separator: ",")
    let created = try await send("POST", "", #"{"url":"http://127.0.0.1:\#(port)/hook","kinds":[\#(names)]}"#)
    return try #require(created.json["id"].text, "\(created.text)")
  }

  /// Stores an event about a post, and returns its comment.
  @discardableResult
  func notify(
    _ post: PublicID?, _ kind: UserEvent.Kind = .comment, of user: String = "ada", by actor: String = "bob",
    data: [UInt8]? = nil
  ) async throws -> String {
    let comment = PublicID.now()
    try await api.pool.transaction { session in
      try Store.notify(user, of: kind, by: actor, post: post, subject: comment, data: data, session)
    }
    return "\(comment)"
  }

  /// Passes the events on, and sends what is due.
  ///
  /// - Parameter timeout: the time for a request, in seconds.
  func turn(timeout: Int = 15) async throws {
    _ = try await Events.dispatch(api.pool)
    guard let job = try await claim() else { return }
    let courier = courier(timeout: timeout)
    let deadline = Deadline("the last delivery")
    while try await courier.deliver(job, isStopped: { false }, api.pool) { try deadline.check() }
    try await api.pool.transaction { session in
      try JobQueue.drop(job, session)
      #expect(try !courier.hasDue(job, session))
    }
  }

  func courier(timeout: Int = 15) -> WebhookCourier {
    let routes = api.api.rooms.lazy.compactMap { $0 as? WebhookRoutes }.first
    return WebhookCourier(
      permits: routes?.permits ?? WebhookPermits(), timeout: timeout,
      Logger { line in self.log.withLock { $0.append(line) } })
  }

  /// Takes the job of an endpoint for a worker of its own; nil if nothing is due.
  func claim() async throws -> ClaimedJob? {
    try await api.pool.run { session in
      let worker = try JobQueue.register(host: "here", process: 1, session)
      return try JobQueue.claim(worker: worker, queue: "webhooks", limit: 1, session).first
    }
  }

  /// Makes due what waits for its time.
  func passTime() async throws {
    try await execute("UPDATE webhook SET next_at = clock_timestamp()")
    try await execute("UPDATE webhook_delivery SET next_at = clock_timestamp() WHERE next_at IS NOT NULL")
  }

  func execute(_ statement: Statement) async throws {
    _ = try await api.pool.run { try $0.execute(statement).affected }
  }

  /// The only value of the only row.
  func value<Value: ColumnValue & Sendable>(_ statement: Statement) async throws -> Value {
    try await api.pool.run { try $0.execute(statement).single().get(0) }
  }

  /// The deliveries to a webhook, the newest first.
  func deliveries(_ id: String, _ query: String = "") async throws -> [JSONValue] {
    try await send("GET", "/\(id)/deliveries\(query)").json["items"].elements
  }
}
