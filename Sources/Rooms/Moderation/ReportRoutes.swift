import FoundationEssentials
internal import HTTPServer
internal import Kit
internal import Model
internal import Store

/// The routes of reports: what a user finds wrong.
struct ReportRoutes: RouteRoom {
  let kit: Kit

  var routes: [Route] {
    [
      route("POST", "/v1/reports", access: .key([.submit]), bodyLimit: JSONBody.limit, handler: submitReport),
      route("GET", "/v1/reports/{id}", access: .key([.read]), handler: readReport),
    ]
  }

  private func submitReport(_ request: Request) async throws -> Response {
    var reader = FieldReader(try await JSONBody.fields(of: request), path: "")
    let author = reader.author(actingAs: request.caller.user)
    let subject = reader.subject()
    let reason = reader.required("reason", limit: MaxLength.name)
    let text = reader.text("text", limit: MaxLength.text)
    let errors = reader.finish()
    guard errors.isEmpty, let subject else { throw ProblemKind.invalid(errors) }
    _ = try request.caller.author(author)
    try access.countSubmission(of: author, request)
    let (report, isNew) = try await find(request, changing: true, else: Self.notFound(subject)) {
      try Moderation.report(subject, for: $0, author: author, reason: reason, text: text, $1)
    }
    return try .uncached(ReportResponse(report), isNew ? .created : .ok, at: ReportResponse.path(report.id))
  }

  private func readReport(_ request: Request) async throws -> Response {
    let text = request.parameter("id")
    let missing = ProblemKind.reportNotFound.problem("The report \(text) does not exist.")
    let report = try await find(request, else: missing) { viewer, session in
      try PublicID(text).flatMap { try Moderation.findReport($0, for: viewer, session) }
    }
    return try .uncached(ReportResponse(report))
  }
}

extension FieldReader {
  /// Reads what is reported or decided about from one of the fields that name the kinds of records.
  mutating func subject() -> RecordID? {
    var subjects: [RecordID] = []
    for kind in RecordID.Kind.all {
      let subject: RecordID? =
        kind.isNamed
        ? text(kind.name, limit: MaxLength.name, allowsEmpty: false).flatMap { RecordID(kind, $0) }
        : value(kind.name, "expected a UUID") { value in
          if case .string(let text) = value { RecordID(kind, text) } else { nil }
        }
      if let subject { subjects.append(subject) }
    }
    if subjects.count != 1, errors.isEmpty {
      refuse("post", "expected one of the fields \(RecordKind.names)")
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
  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  let subject: RecordID

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    for kind in RecordID.Kind.all { try container.encode(subject.id(ifOf: kind), forKey: Key(stringValue: kind.name)) }
  }
}
