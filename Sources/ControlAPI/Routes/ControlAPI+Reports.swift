import FoundationEssentials
internal import HTTPServer
internal import Model
internal import Postgres
internal import Store

/// The routes of reports: what a user finds wrong.
extension ControlAPI {
  var reportRoutes: [Route] {
    [
      route(
        "POST", "/v1/reports", access: .key([.submit]), bodyLimit: Int64(JSONBody.maxBytes), handler: submitReport),
      route("GET", "/v1/reports/{id}", access: .key([.read]), handler: readReport),
    ]
  }

  private func submitReport(_ request: Request) async throws -> Response {
    var reader = FieldReader(try await JSONBody.fields(of: request), path: "")
    let author = reader.author(actingAs: request.caller.user)
    let subject = reader.moderationSubject()
    let reason = reader.text("reason", limit: MaxLength.name, isRequired: true, allowsEmpty: false)
    let text = reader.text("text", limit: MaxLength.text)
    let errors = reader.finish()
    guard errors.isEmpty, let author, let subject, let reason else { throw ProblemKind.invalid(errors) }
    _ = try request.caller.author(author)
    try access.countSubmission(of: author, request)
    let (store, viewer) = (store, request.caller.viewer)
    let reported = try await database.transaction { session in
      try store.report(subject, for: viewer, author: author, reason: reason, text: text, session)
    }
    guard let (report, isNew) = reported else { throw Self.notFound(subject) }
    return .json(
      isNew ? .created : .ok, try JSON.encode(ReportResponse(report)),
      headers: ["Cache-Control": "no-store", "Location": ReportResponse.path(report.id)])
  }

  private func readReport(_ request: Request) async throws -> Response {
    let text = request.parameter("id")
    let (store, viewer) = (store, request.caller.viewer)
    guard let id = PublicID(text), let report = try await database.read({ try store.report(id, for: viewer, $0) })
    else { throw ProblemKind.reportNotFound.problem("The report \(text) does not exist.") }
    return try .uncached(ReportResponse(report))
  }

  static func notFound(_ subject: ModerationSubject) -> Problem {
    switch subject {
    case .post(let id): postNotFound("\(id)")
    case .comment(let id): commentNotFound("\(id)")
    case .user(let id): userNotFound(id)
    case .place(let id): placeNotFound(id)
    case .image(let id): ProblemKind.imageNotFound.problem("The image \(id) does not exist.")
    case .collection(let id): collectionNotFound("\(id)")
    }
  }
}

extension FieldReader {
  /// Reads one of the fields `post`, `comment`, `user`, `place`, `image` and `collection`.
  mutating func moderationSubject() -> ModerationSubject? {
    func id(_ value: JSONValue) -> PublicID? { if case .string(let text) = value { PublicID(text) } else { nil } }
    let subjects = [
      value("post", "expected a UUID", id).map(ModerationSubject.post),
      value("comment", "expected a UUID", id).map(ModerationSubject.comment),
      text("user", limit: MaxLength.name, allowsEmpty: false).map(ModerationSubject.user),
      text("place", limit: MaxLength.name, allowsEmpty: false).map(ModerationSubject.place),
      value("image", "expected a UUID", id).map(ModerationSubject.image),
      value("collection", "expected a UUID", id).map(ModerationSubject.collection),
    ].compactMap(\.self)
    if subjects.count != 1, errors.isEmpty {
      refuse("post", "expected one of the fields post, comment, user, place, image and collection")
    }
    return subjects.first
  }
}

/// The JSON of a report: of the keys of its subject one has a value.
struct ReportResponse: Encodable {
  private let report: Report

  init(_ report: Report) { self.report = report }

  /// The path of a report.
  static func path(_ id: PublicID) -> String { "/v1/reports/\(id)" }

  private enum CodingKeys: String, CodingKey { case id, author, reason, text, createdAt, decidedAt }

  func encode(to encoder: any Encoder) throws {
    try SubjectResponse(subject: report.subject).encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(report.id, forKey: .id)
    try container.encode(report.author, forKey: .author)
    try container.encode(report.reason, forKey: .reason)
    try container.encode(report.text, forKey: .text)
    try container.encode(report.createdAt, forKey: .createdAt)
    try container.encode(report.decidedAt, forKey: .decidedAt)
  }
}

/// The keys of what is reported and decided about, of which one has a value.
struct SubjectResponse: Encodable {
  let subject: ModerationSubject

  private enum CodingKeys: String, CodingKey, CaseIterable { case post, comment, user, place, image, collection }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    let (named, id): (CodingKeys, String) =
      switch subject {
      case .post(let id): (.post, "\(id)")
      case .comment(let id): (.comment, "\(id)")
      case .user(let id): (.user, id)
      case .place(let id): (.place, id)
      case .image(let id): (.image, "\(id)")
      case .collection(let id): (.collection, "\(id)")
      }
    for key in CodingKeys.allCases { try container.encode(key == named ? id : nil, forKey: key) }
  }
}
