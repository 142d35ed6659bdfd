import FoundationEssentials
internal import HTTPServer
internal import Kit
internal import Model
internal import Postgres
internal import Store

/// The routes of moderators: the cases and their decisions.
struct ModerationRoutes: RouteRoom {
  let kit: Kit
  let events: EventRoutes

  var routes: [Route] {
    let limit = JSONBody.limit
    return [
      route("GET", "/v1/moderation/cases", access: .key([.moderate]), readsQuery: true, handler: listCases),
      route("POST", "/v1/moderation/cases", access: .key([.moderate]), bodyLimit: limit, handler: openCase),
      route("GET", "/v1/moderation/cases/{id}", access: .key([.moderate]), handler: readCase),
      route(
        "POST", "/v1/moderation/cases/{id}/decision", access: .key([.moderate]), bodyLimit: limit, handler: decideCase),
      route("GET", "/v1/moderation/events", access: .key([.moderate]), readsQuery: true) {
        try await events.stream(of: Moderation.moderators, $0)
      },
    ]
  }

  /// The number of reports in the JSON of a case.
  private static let maxReports = 100

  private func listCases(_ request: Request) async throws -> Response {
    var reader = QueryReader(request.target)
    let state = reader.choice("state", of: ModerationCase.State.self) ?? .open
    let page = reader.page()
    try reader.finish()
    let cases = try await database.read { try Moderation.list(state, page, $0) }
    return try .uncached(PageResponse(cases) { CaseResponse($0, prefix: access.urlPrefix) })
  }

  private func readCase(_ request: Request) async throws -> Response {
    let text = request.parameter("id")
    let found = try await find(request, else: Self.caseNotFound(text)) { _, session in
      try PublicID(text).flatMap { id in
        try Moderation.find(id, session).map {
          CaseResponse(
            $0, try Moderation.reports(of: id, limit: Self.maxReports, session), prefix: access.urlPrefix)
        }
      }
    }
    return try .uncached(found)
  }

  /// Opens a case, and decides it if the request says how.
  private func openCase(_ request: Request) async throws -> Response {
    var reader = FieldReader(try await JSONBody.fields(of: request), path: "")
    let subject = reader.subject()
    let decision = reader.choice("decision", of: ModerationDecision.self)
    let note = reader.text("note", limit: MaxLength.text)
    if let decision, let subject, !decision.concerns(subject) { reader.refuse("decision", Self.unfit) }
    if decision == nil, note != nil { reader.refuse("note", "belongs to a decision; remove it, or add the decision") }
    let errors = reader.finish()
    guard errors.isEmpty, let subject else { throw ProblemKind.invalid(errors) }
    let by = request.caller.moderator
    let result = try await database.transaction { session -> (ModerationCase, Bool) in
      guard let (opened, isNew) = try Moderation.openCase(about: subject, session) else { throw Self.notFound(subject) }
      guard let decision else { return (opened, isNew) }
      return (
        try Self.decided(try Moderation.decide(opened.id, decision, by: by, note: note, session), "\(opened.id)"), isNew
      )
    }
    return try .uncached(
      CaseResponse(result.0, prefix: access.urlPrefix), result.1 ? .created : .ok, at: CaseResponse.path(result.0.id))
  }

  private func decideCase(_ request: Request) async throws -> Response {
    let text = request.parameter("id")
    var reader = FieldReader(try await JSONBody.fields(of: request), path: "")
    let decision = reader.choice("decision", of: ModerationDecision.self, isRequired: true)
    let note = reader.text("note", limit: MaxLength.text)
    let errors = reader.finish()
    guard errors.isEmpty, let decision else { throw ProblemKind.invalid(errors) }
    guard let id = PublicID(text) else { throw Self.caseNotFound(text) }
    let by = request.caller.moderator
    let decided = try await database.transaction { session in
      try Self.decided(try Moderation.decide(id, decision, by: by, note: note, session), text)
    }
    return try .uncached(CaseResponse(decided, prefix: access.urlPrefix))
  }

  private static func decided(_ result: Moderation.Decided, _ id: String) throws(Problem) -> ModerationCase {
    switch result {
    case .decided(let decided): return decided
    case .notFound: throw caseNotFound(id)
    case .otherwise(let decided):
      throw ProblemKind.caseDecided.problem(
        "The decision of the case \(id) is '\(decided.outcome?.decision.rawValue ?? "")'.")
    case .unfit: throw ProblemKind.invalid([FieldError("decision", unfit)])
    }
  }

  private static let unfit =
    "expected \"approve\" or \"suspend\" for users, \"approve\" or \"hide\" for everything else"

  private static func caseNotFound(_ id: String) -> Problem {
    ProblemKind.caseNotFound.problem("The case \(id) does not exist.")
  }
}

extension Caller {
  /// The name of the credential in the cases that it decides; nil: there is none.
  fileprivate var moderator: String? { tenant.isEmpty ? nil : tenant }
}

/// The JSON of a case; `reports` is absent in a list of cases.
struct CaseResponse: Encodable {
  private let opened: ModerationCase
  private let reports: [Report]?
  private let prefix: String

  /// - Parameter prefix: that of the URLs of the service.
  init(_ opened: ModerationCase, _ reports: [Report]? = nil, prefix: String) {
    self.opened = opened
    self.reports = reports
    self.prefix = prefix
  }

  /// The path of a case.
  static func path(_ id: PublicID) -> String { "/v1/moderation/cases/\(id)" }

  /// The path of what it is about.
  private var path: String? {
    guard opened.subject.kind == .comment, let id = opened.subject.publicID else { return opened.subject.path }
    return opened.commentSubject.map { CommentResponse.path(id, on: $0) }
  }

  private enum CodingKeys: String, CodingKey {
    case id, state, cause, author, url, counts, createdAt, decision, decidedBy, decidedAt, note, reports
  }

  private struct Counts: Encodable { let reports: Int }

  func encode(to encoder: any Encoder) throws {
    try SubjectResponse(subject: opened.subject).encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(opened.id, forKey: .id)
    try container.encode(
      opened.outcome == nil ? ModerationCase.State.open : ModerationCase.State.decided, forKey: .state)
    try container.encode(opened.cause, forKey: .cause)
    try container.encode(opened.author, forKey: .author)
    try container.encode(path.map { prefix + $0 }, forKey: .url)
    try container.encode(Counts(reports: opened.reports), forKey: .counts)
    try container.encode(opened.createdAt, forKey: .createdAt)
    try container.encode(opened.outcome?.decision, forKey: .decision)
    try container.encode(opened.outcome?.by, forKey: .decidedBy)
    try container.encode(opened.outcome?.at, forKey: .decidedAt)
    try container.encode(opened.outcome?.note, forKey: .note)
    try container.encodeIfPresent(reports?.map(ReportResponse.init), forKey: .reports)
  }
}
