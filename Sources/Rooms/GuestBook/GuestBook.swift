package import FoundationEssentials
internal import HTTPServer
package import Model
package import Postgres
internal import Queue
package import Store

/// What a user has written into the guest book of a place.
package struct GuestBookEntry: Encodable, Sendable {
  package let id: PublicID
  package let place: String
  package let author: String
  package let text: String
  package let hidden: Bool
  package let createdAt: Date

  init(_ row: Row) throws {
    id = try row.publicID("public_id")
    place = try row.get("place_id")
    author = try row.get("author")
    text = try row.get("text")
    hidden = try row.get("is_hidden")
    createdAt = Date(microseconds: try row.get("created_at"))
  }
}

extension RecordID.Kind {
  static let entry = RecordID.Kind("entry")
}

/// Guest books of places.
package enum GuestBook: RecordRoom {
  package static let statements = Statements(
    topic: "guest_book", Store.fragments, PackageResources.GuestBook_sql)

  package static let migrations = [
    Migration(version: 150, name: "guest_book", PackageResources.v0150_guest_book_sql)
  ]

  package static var exports: [Export] {
    [Export("guest_book", statements["entries_by_user"]) { try GuestBookEntry($0) }]
  }

  package static var forgetting: [ForgettingStep] {
    [
      ForgettingStep(
        mention: "EXISTS (SELECT FROM guest_book_entry WHERE author = $1)", statements["drop_entries_of_user"],
        lockedBy: [statements["lock_books_of_user"]])
    ]
  }

  package static var checks: [RowCheck] {
    [
      RowCheck(
        "guest_book", statements["check_books"], repair: [statements["lock_book"], statements["correct_book"]])
    ]
  }

  static let record = RecordKind(
    .entry, path: "guestbook", table: "guest_book_entry", author: "guest_book_entry.author", missing: .entryNotFound,
    { "There is no entry with the id \($0)." },
    lock: { entry, viewer, session in try locked(entry.id, for: viewer, session).map { _ in RecordKind.Locked() } },
    setHidden: { entry, _, isHidden, session in
      let changed = try session.execute(statements["hide_entry"], .text(entry.id), .bool(isHidden))
      guard changed.affected > 0, let entry = try locked(entry.id, for: .unrestricted, session) else { return }
      try count(isHidden ? -1 : 1, in: entry.place, session)
    })

  /// Adds an entry; nil if the viewer sees no such place.
  ///
  /// - Throws: `ForgottenRefusal`, `SuspendedRefusal`.
  static func insert(
    into place: String, for viewer: Viewer, author: String, text: String, _ session: Session
  ) throws -> GuestBookEntry? {
    try Store.requireUsers(author, in: session)
    guard try RecordID.place(place).lock(for: viewer, session) != nil else { return nil }
    let entry = try session.execute(
      statements["insert_entry"], .text(PublicID.now().description), .text(place), .text(author), .text(text))
    try count(1, in: place, session)
    return try GuestBookEntry(entry.single())
  }

  /// Reads an entry; nil if the viewer sees none.
  static func find(_ id: PublicID, for viewer: Viewer, _ session: Session) throws -> GuestBookEntry? {
    try session.execute(statements["entry"], .text(id.description), viewer.parameter).first.map(GuestBookEntry.init)
  }

  /// Reads a page of the entries of a place, the newest first, and how many there are.
  package static func list(
    of place: String, for viewer: Viewer, _ page: PageRequest, _ session: Session
  ) throws -> (page: Page<GuestBookEntry>, entries: Int) {
    let rows = try session.execute(statements["entries"], [.text(place)] + page.parameters + [viewer.parameter])
    return (
      try Page(rows, page) { try $0.map(GuestBookEntry.init) },
      try session.execute(statements["entries_of_place"], .text(place)).single().get(0)
    )
  }

  /// Deletes an entry of the viewer's; false if the viewer sees none.
  ///
  /// - Throws: `OwnershipRefusal`, after which the caller must roll back.
  static func delete(_ id: PublicID, for viewer: Viewer, _ session: Session) throws -> Bool {
    guard let entry = try locked(id.description, for: viewer, session) else { return false }
    try viewer.require(owner: entry.author)
    try session.execute(statements["drop_entry"], .text(id.description))
    if !entry.hidden { try count(-1, in: entry.place, session) }
    return true
  }

  private static func locked(_ id: String, for viewer: Viewer, _ session: Session) throws -> GuestBookEntry? {
    try session.execute(statements["lock_entry"], .text(id), viewer.parameter).first.map(GuestBookEntry.init)
  }

  private static func count(_ step: Int, in place: String, _ session: Session) throws {
    try session.execute(statements["count_entries"], .text(place), .integer(step))
  }
}

/// The routes of guest books.
struct GuestBookRoutes: RouteRoom {
  let kit: Kit

  var routes: [Route] {
    [
      route("POST", "/v1/places/{id}/guestbook", access: .key([.submit]), bodyLimit: JSONBody.limit, handler: submit),
      route("GET", "/v1/places/{id}/guestbook", access: .key([.read]), readsQuery: true) { request in
        let place = try name(request)
        return try await list(request, { $0 }, else: Self.notFound(.place, place)) { viewer, page, session in
          try Places.find(place, for: viewer, session)
            .map { _ in try GuestBook.list(of: place, for: viewer, page, session).page }
        }
      },
      route("GET", "/v1/guestbook/{id}", access: .key([.read])) { request in
        let id = try id(.entry, request)
        return try await show(request, { $0 }, else: Self.notFound(.entry, id)) {
          try GuestBook.find(id, for: $0, $1)
        }
      },
      route("DELETE", "/v1/guestbook/{id}", access: .key([.delete])) { request in
        let id = try id(.entry, request)
        return try await delete(request, else: Self.notFound(.entry, id)) { try GuestBook.delete(id, for: $0, $1) }
      },
    ]
  }

  private func submit(_ request: Request) async throws -> Response {
    let place = try name(request)
    var reader = FieldReader(try await JSONBody.fields(of: request), path: "")
    let author = reader.author(actingAs: request.caller.user)
    let text = reader.required("text", limit: MaxLength.text)
    try reader.check()
    _ = try request.caller.author(author)
    try access.countSubmission(of: author, request)
    let viewer = request.caller.viewer
    return try await storeOnce(request, nil, payload: [Array(author.utf8), Array(text.utf8)]) { session in
      guard let entry = try GuestBook.insert(into: place, for: viewer, author: author, text: text, session) else {
        throw Self.notFound(.place, place)
      }
      return StoredSubmission(created: try JSON.encode(entry), at: RecordID(.entry, entry.id).path)
    }.response
  }
}

extension GuestBookEntry: Versioned {
  var version: some Encodable { ["id": "\(id)", "author": author, "text": text] }
}
