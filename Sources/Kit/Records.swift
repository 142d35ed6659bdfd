package import HTTPServer
package import Model
package import Postgres
internal import Store

/// What the routes of all kinds of records have in common. Each reads or changes what the client of the request sees, and throws the
/// problem of the kind if that is nothing.
extension KitHolder {
  /// Reads what the client sees, or changes it in one transaction.
  package func find<Value: Sendable>(
    _ request: Request, changing: Bool = false, else problem: @autoclosure () -> Problem,
    _ body: @Sendable (Viewer, Session) throws -> Value?
  ) async throws -> Value {
    let viewer = request.caller.viewer
    let value =
      changing
      ? try await database.transaction { try body(viewer, $0) }
      : try await database.read { try body(viewer, $0) }
    guard let value else { throw problem() }
    return value
  }

  /// Returns a record with its version and what the client wants with it; after a change, if `body` changes it, the record alone.
  ///
  /// - Parameters:
  ///   - json: the JSON of the record.
  ///   - reader: the parameters that the caller has not read; nil: all.
  ///   - wait: what precedes the read, once the parameters are known to be valid.
  package func show<Record: Versioned & Sendable>(
    _ request: Request, _ json: (Record) -> some Encodable, changing: Bool = false, _ reader: QueryReader? = nil,
    after wait: () async throws -> Void = {},
    else problem: @autoclosure () -> Problem, _ body: @Sendable (Viewer, Session) throws -> Record?
  ) async throws -> Response {
    guard !changing else {
      let record = try await find(request, changing: true, else: problem(), body)
      return try .versioned(json(record), record)
    }
    var reader = reader ?? QueryReader(request.target)
    let inclusion = try inclusion(of: Record.self, &reader, request)
    try reader.finish()
    try await wait()
    let (record, included) = try await find(request, else: problem()) { viewer, session in
      try body(viewer, session).map { ($0, try inclusion.read([$0], session)) }
    }
    return try .versioned(json(record), record, including: included)
  }

  /// Deletes a record; `body` returns false if the client sees none.
  ///
  /// - Parameter releasing: whether media go with it.
  package func delete(
    _ request: Request, releasing: Bool = false, else problem: @autoclosure () -> Problem,
    _ body: @Sendable (Viewer, Session) throws -> Bool
  ) async throws -> Response {
    _ = try await find(request, changing: true, else: problem()) { try body($0, $1) ? true : nil }
    return releasing ? await collectingReleased() : Response(.noContent)
  }

  /// Returns a page of a list, the latest record first.
  ///
  /// - Parameter item: the JSON of a record.
  package func list<Record: Sendable>(
    _ request: Request, _ item: (Record) -> some Encodable, else problem: @autoclosure () -> Problem,
    _ body: @Sendable (Viewer, PageRequest, Session) throws -> Page<Record>?
  ) async throws -> Response {
    var reader = QueryReader(request.target)
    let page = reader.page()
    let inclusion = try inclusion(of: Record.self, &reader, request)
    try reader.finish()
    let (records, included) = try await find(request, else: problem()) { viewer, session in
      try body(viewer, page, session).map { ($0, try inclusion.read($0.items, session)) }
    }
    return try .uncached(PageResponse(records, item), including: included)
  }

  /// Returns a page of a list in the order of the ids of users, which are its cursors.
  package func list<Item: Encodable & Sendable>(
    byUser user: KeyPath<Item, String>, _ request: Request, else problem: @autoclosure () -> Problem,
    _ body: @Sendable (Viewer, _ after: String?, _ limit: Int, Session) throws -> (items: [Item], hasMore: Bool)?
  ) async throws -> Response {
    var reader = QueryReader(request.target)
    let limit = reader.number("limit", in: PageRequest.limits) ?? PageRequest().limit
    let after = reader.text("cursor")
    let inclusion = try inclusion(of: Item.self, &reader, request)
    try reader.finish()
    let (page, included) = try await find(request, else: problem()) { viewer, session in
      try body(viewer, after, limit, session).map { ($0, try inclusion.read($0.items, session)) }
    }
    return try .uncached(
      PageResponse(items: page.items, next: page.hasMore ? page.items.last?[keyPath: user] : nil), including: included)
  }

  /// Returns the response to a deletion and deletes the released media. If that fails, a worker's maintenance task
  /// deletes them later.
  package func collectingReleased() async -> Response {
    _ = try? await store.collecting.collectReleased(database)
    return Response(.noContent)
  }

  /// Runs a query that may scan many rows. It uses the pool `lists`, so that slow lists do not delay other requests.
  ///
  /// - Parameter isWide: whether the query may read so many rows that it is at fault itself if it takes too long. Otherwise the
  ///   database is.
  package func queryList<Items: Sendable>(
    isWide: Bool = false, _ body: @Sendable (Session) throws -> Items
  ) async throws -> Items {
    do {
      return try await kit.lists.read(body)
    } catch let error as PostgresError where error.isCanceled && isWide {
      throw ProblemKind.queryTooSlow.problem("The query exceeded the statement timeout of lists.")
    }
  }

  /// Returns a name that the app assigned from the path; throws a problem if it is too long.
  package func name(_ request: Request, _ parameter: String = "id") throws(Problem) -> String {
    let name = request.parameter(parameter)
    guard 1...MaxLength.name ~= name.unicodeScalars.count, !name.unicodeScalars.contains("\0") else {
      throw ProblemKind.invalidFields.problem(
        "The name in the path is invalid.",
        errors: [FieldError(parameter, "expected 1 to \(MaxLength.name) characters")])
    }
    return name
  }

  /// Returns the user in the path; throws a problem unless the client is the user or acts as no user.
  ///
  /// - Parameter records: the beginning of the detail, such as `The notes are those`.
  package func owner(of records: String, _ request: Request) throws(Problem) -> String {
    let user = try name(request)
    guard request.caller.viewer.owns(user) else {
      throw Caller.notYours("\(records) of another user than the one that the request acts as.")
    }
    return user
  }
}
