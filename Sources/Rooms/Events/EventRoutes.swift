internal import Crypto
internal import HTTPServer
internal import Kit
internal import Model
internal import Postgres
internal import Store

/// The routes of events: what concerns a user, or for a back-end all users.
struct EventRoutes: RouteRoom {
  let kit: Kit
  let changes: Changes

  var routes: [Route] {
    [
      route(
        "GET", "/v1/events", access: .keyOrTicket([.read], ofAll: [.events]), readsQuery: true, handler: readUserEvents),
      route("POST", "/v1/events/tickets", access: .key([.read]), handler: createTicket),
    ]
  }

  /// The start of every ticket, by which programs that search for leaked secrets recognize it.
  private static let ticketPrefix = "t5e_"

  private func readUserEvents(_ request: Request) async throws -> Response {
    try await stream(of: request.caller.user ?? UserEvent.everyone, request)
  }

  /// Streams the events of a user. A client that reconnects sends the id of its last event.
  func stream(of user: String, _ request: Request) async throws -> Response {
    var reader = QueryReader(request.target)
    _ = reader.text("ticket")
    let parameter = try Self.position(reader.text("last_event_id"), "last_event_id")
    try reader.finish()
    let given = try Self.position(request.headers["Last-Event-ID"], "Last-Event-ID") ?? parameter
    guard request.method != "HEAD" else {
      return Response(.ok, headers: OpenStreams.headers, body: .stream(BodyStream()))
    }
    let numbers = try await EventNumbers.present(in: database) {
      try await database.read { try EventNumbers(of: [UserKey(user)], $0) }
    }
    let window = try await database.read { try Window.lastChange($0) }
    var position = given ?? EventPosition(number: numbers[UserKey(user)], window: window)
    // A history that was lost may have had more windows.
    position.window = min(position.window, window)
    let lifetime = StreamLifetime()
    let stream = UserEventStream(user: user, at: position, isNew: given == nil) { lifetime.end() }
    lifetime.attach(try changes.streams.add(stream.body, of: request))
    lifetime.attach(changes.events.subscribe(stream))
    return Response(.ok, headers: OpenStreams.headers, body: .stream(stream.body))
  }

  private static func position(_ text: String?, _ name: String) throws(Problem) -> EventPosition? {
    guard let text else { return nil }
    guard let position = EventPosition(text) else {
      throw ProblemKind.invalidQuery.problem(
        "The id of the last event is invalid.",
        errors: [FieldError(name, "expected the id of an event of this stream, such as 12-7")])
    }
    return position
  }

  private func createTicket(_ request: Request) async throws -> Response {
    let caller = request.caller
    var identity: IdentityToken?
    if case .provider(let token) = caller.credential { identity = token }
    let user = try request.actingUser()
    try access.limits.countSubmission(of: user, tenant: caller.tenant)
    let ticket = EventTicket(
      user: user, token: caller.token?.id, minter: caller.minter, identity: identity)
    let text = Kit.newSecret(Self.ticketPrefix)
    let expiry = try await database.transaction { session in
      try Tickets.insert(ticket, hash: SHA256.digest(of: Array(text.utf8)), session)
    }
    return try .uncached(TicketResponse(ticket: text, expiresAt: expiry), .created)
  }
}

extension Request {
  /// Returns the user that the request acts as; throws a problem if it acts as none.
  func actingUser() throws(Problem) -> String {
    guard let user = caller.user else {
      throw ProblemKind.userRequired.problem("The operation concerns the user that the request acts as.")
    }
    return user
  }
}
