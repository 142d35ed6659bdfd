import FoundationEssentials
internal import HTTPClient
internal import HTTPServer
package import Kit
internal import Model
internal import Postgres
internal import Store

extension Webhooks: RoutedRoom {
  package static var problems: [any ProblemTable] { WebhookProblem.allCases }

  package static func routes(_ kit: Kit, _ settings: RoomSettings) -> [any RouteRoom] {
    [WebhookRoutes(kit: kit, permits: settings.webhookPermits)]
  }
}

/// The routes of webhooks, for the back-end of an app.
struct WebhookRoutes: RouteRoom {
  let kit: Kit
  /// What endpoints may be besides public addresses.
  let permits: WebhookPermits

  var routes: [Route] {
    let (limit, access, single) = (JSONBody.limit, RouteAccess.key([.webhooks]), "/v1/webhooks/{id}")
    return [
      route("POST", "/v1/webhooks", access: access, bodyLimit: limit, handler: create),
      route("GET", "/v1/webhooks", access: access, readsQuery: true) { request in
        try await list(request, WebhookResponse.init, else: Self.notFound(request)) { try Webhooks.list($1, $2) }
      },
      route("GET", single, access: access) { request in
        let id = try webhook(request)
        return try await show(request, WebhookResponse.init, else: Self.notFound(request)) { try Webhooks.find(id, $1) }
      },
      route("PATCH", single, access: access, bodyLimit: limit, handler: change),
      route("DELETE", single, access: access) { request in
        let id = try webhook(request)
        return try await delete(request, else: Self.notFound(request)) {
          try Webhooks.delete(id, $1, check: request.checkVersion)
        }
      },
      route("POST", single + "/secret", access: access) { request in
        let id = try webhook(request)
        let secret = try await find(request, changing: true, else: Self.notFound(request)) { _, session in
          try Webhooks.rotate(id, session) { try requireTokens(request, for: $0) }
        }
        return try .uncached(["secret": secret])
      },
      route("GET", single + "/deliveries", access: access, readsQuery: true, handler: listDeliveries),
      route("POST", single + "/deliveries/{delivery}/replay", access: access, handler: replay),
      route("POST", single + "/replay", access: access, bodyLimit: limit, handler: replayFailed),
      route("POST", single + "/test", access: access, handler: sendTest),
    ]
  }

  private func create(_ request: Request) async throws -> Response {
    var reader = FieldReader(try await JSONBody.fields(of: request), path: "")
    let url = url(&reader, isRequired: true)
    let kinds = Self.kinds(&reader, isRequired: true)
    let headers = Self.headers(&reader)
    try reader.check()
    try requireTokens(request, for: kinds?.map(\.rawValue) ?? [])
    let (created, secret) = try await database.transaction {
      try Webhooks.create(url: url ?? "", kinds: kinds ?? [], headers: headers ?? [:], $0)
    }
    return try .versioned(
      WebhookResponse(created, secret: secret), created, .created, at: "/v1/webhooks/\(created.id)")
  }

  private func change(_ request: Request) async throws -> Response {
    let id = try webhook(request)
    var reader = FieldReader(try await JSONBody.fields(of: request), path: "")
    let url = url(&reader)
    let kinds = Self.kinds(&reader)
    let headers = Self.headers(&reader)
    let state = reader.choice("state", of: Webhook.State.self)
    try reader.check()
    return try await show(request, WebhookResponse.init, changing: true, else: Self.notFound(request)) {
      try Webhooks.change(id, $1) { webhook in
        try request.checkVersion(of: webhook)
        try requireTokens(request, for: webhook.kinds + (kinds?.map(\.rawValue) ?? []))
        // What may be a secret for one server is not sent to another one.
        let isElsewhere = url.map { RequestURL($0)?.server != RequestURL(webhook.url)?.server } ?? false
        webhook.headers = headers ?? (isElsewhere ? [:] : webhook.headers)
        webhook.url = url ?? webhook.url
        webhook.kinds = kinds?.map(\.rawValue) ?? webhook.kinds
        if let state { webhook.cause = state == .enabled ? nil : webhook.cause ?? .operator }
      }
    }
  }

  private func listDeliveries(_ request: Request) async throws -> Response {
    let id = try webhook(request)
    var reader = QueryReader(request.target)
    let state = reader.choice("state", of: WebhookDelivery.State.self)
    let page = reader.page()
    try reader.finish()
    let found = try await queryList { try Webhooks.deliveries(to: id, state, page, $0) }
    guard let found else { throw Self.notFound(request) }
    return try .uncached(PageResponse(found) { $0 })
  }

  private func replay(_ request: Request) async throws -> Response {
    let (id, delivery) = (try webhook(request), request.parameter("delivery"))
    let problem = WebhookProblem.deliveryNotFound.problem("There is no delivery \(delivery) that can be sent again.")
    _ = try await find(request, changing: true, else: problem) {
      try Webhooks.replay(delivery, to: id, $1) ? true : nil
    }
    return try .uncached(["replayed": 1], .accepted)
  }

  private func replayFailed(_ request: Request) async throws -> Response {
    let id = try webhook(request)
    var reader = FieldReader(try await JSONBody.fields(of: request), path: "")
    let since = reader.time("since") ?? .distantPast
    try reader.check()
    let count = try await find(request, changing: true, else: Self.notFound(request)) {
      try Webhooks.replayFailed(since: since, to: id, $1)
    }
    return try .uncached(["replayed": count], .accepted)
  }

  private func sendTest(_ request: Request) async throws -> Response {
    let id = try webhook(request)
    let delivery = try await find(request, changing: true, else: Self.notFound(request)) { _, session in
      try Webhooks.sendTest(to: id, session) { webhook in
        guard webhook.state == .enabled else {
          throw WebhookProblem.webhookDisabled.problem("The webhook \(id) is disabled, and nothing is sent to it.")
        }
      }
    }
    return try .uncached(["delivery": delivery], .accepted)
  }

  private func url(_ reader: inout FieldReader, isRequired: Bool = false) -> String? {
    guard let url = reader.text("url", limit: 2000, isRequired: isRequired) else { return nil }
    if let problem = permits.problem(with: url) { reader.refuse("url", problem) }
    return url
  }

  private static func kinds(_ reader: inout FieldReader, isRequired: Bool = false) -> [UserEvent.Kind]? {
    let expected = "expected a list of " + UserEvent.Kind.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
    return reader.value("kinds", expected, isRequired: isRequired) { value in
      guard case .array(let values) = value, !values.isEmpty else { return nil }
      let kinds = values.compactMap { value in
        if case .string(let name) = value { UserEvent.Kind(named: name) } else { nil }
      }
      return kinds.count == values.count && Set(kinds).count == kinds.count ? kinds : nil
    }
  }

  private static func headers(_ reader: inout FieldReader) -> [String: String]? {
    let given = reader.value("headers", "expected an object with texts") { value -> [String: String]? in
      guard case .object(let fields) = value else { return nil }
      let texts = fields.compactMapValues { field -> String? in
        if case .string(let text) = field { text } else { nil }
      }
      return texts.count == fields.count ? texts : nil
    }
    if let given, let problem = WebhookHeaders.problem(with: given) { reader.refuse("headers", problem) }
    return given
  }

  /// Throws a problem unless the client may receive what is about accounts, such as the codes by which users sign in, if it is among the
  /// kinds.
  private func requireTokens(_ request: Request, for kinds: [String]) throws(Problem) {
    guard let kind = kinds.first(where: Webhooks.accountKinds.contains) else { return }
    try access.requireTokens(of: request.caller, for: "A webhook of \(kind), which has addresses of users,")
  }

  private func webhook(_ request: Request) throws(Problem) -> PublicID {
    guard let id = PublicID(request.parameter("id")) else { throw Self.notFound(request) }
    return id
  }

  private static func notFound(_ request: Request) -> Problem {
    WebhookProblem.webhookNotFound.problem("There is no webhook with the id \(request.parameter("id")).")
  }
}

/// The JSON of an endpoint, without the values of its header fields; `secret` is there only when it is new.
package struct WebhookResponse: Encodable {
  private let webhook: Webhook
  private let secret: String?

  init(_ webhook: Webhook) { self.init(webhook, secret: nil) }

  package init(_ webhook: Webhook, secret: String?) {
    self.webhook = webhook
    self.secret = secret
  }

  private enum CodingKeys: String, CodingKey {
    case id, url, kinds, headers, state, cause, disabledAt, failingSince, createdAt, secret
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(webhook.id, forKey: .id)
    try container.encode(webhook.url, forKey: .url)
    try container.encode(webhook.kinds, forKey: .kinds)
    try container.encode(webhook.headers.mapValues { _ in WebhookHeaders.hidden }, forKey: .headers)
    try container.encode(webhook.state.rawValue, forKey: .state)
    try container.encode(webhook.cause, forKey: .cause)
    try container.encode(webhook.disabledAt, forKey: .disabledAt)
    try container.encode(webhook.failingSince, forKey: .failingSince)
    try container.encode(webhook.createdAt, forKey: .createdAt)
    try container.encodeIfPresent(secret, forKey: .secret)
  }
}

extension Webhook: Versioned {
  // Without the values of the header fields: a tag is a hash, by which a short secret could be found.
  package var version: some Encodable {
    var version = ["id": "\(id)", "url": url, "kinds": kinds.joined(separator: " "), "state": state.rawValue]
    if !headers.isEmpty { version["headers"] = headers.keys.sorted().joined(separator: " ") }
    return version
  }
}
