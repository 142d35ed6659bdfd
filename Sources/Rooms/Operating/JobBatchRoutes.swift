import FoundationEssentials
internal import HTTPServer
internal import Kit
internal import Model
internal import Postgres
internal import Queue

/// The route that retries or cancels the jobs of a filter.
struct JobBatchRoutes: RouteRoom {
  let kit: Kit

  var routes: [Route] {
    [
      route("POST", "/v1/operations/jobs", access: .key([.admin]), bodyLimit: JSONBody.limit, handler: change)
    ]
  }

  private func change(_ request: Request) async throws -> Response {
    let draft = try JobBatchDraft(fields: try await JSONBody.fields(of: request))
    let (filter, matched) = try await queryList(isWide: draft.filter.error != nil) { session in
      var filter = draft.filter
      if filter.asOf == nil { filter.asOf = try Operations.time(session) }
      return (filter, try JobQueue.count(filter, session))
    }
    let selected = min(matched, draft.limit)
    let changed = draft.isDryRun ? selected : try await draft.action.change.run(filter, max: selected, database)
    return try .uncached(
      JobBatchResponse(matched: matched, changed: changed, remaining: matched - selected, before: filter.asOf))
  }
}

/// A request to change the jobs of a filter.
struct JobBatchDraft: Sendable {
  enum Action: String, CaseIterable, Sendable {
    case retry, cancel

    var change: BatchChange {
      switch self {
      case .retry: .retry
      case .cancel: .cancel
      }
    }
  }

  /// The maximum number of jobs that a request changes: it ends in seconds, before its client gives up.
  static let maxJobs = 10_000

  let action: Action
  let filter: JobFilter
  let limit: Int
  let isDryRun: Bool

  init(fields: [String: JSONValue]) throws(Problem) {
    var reader = FieldReader(fields, path: "")
    let action = reader.choice("action", of: Action.self, isRequired: true)
    var filter = JobFilter()
    // All jobs are meant only if the request says so.
    if !reader.has("filter") { reader.refuse("filter", "is required; {} selects all jobs that can be changed") }
    _ = reader.object("filter") { reader in
      filter.states = reader.choices("state", of: JobState.self)
      filter.queue = reader.name("queue")
      filter.kind = reader.name("kind")
      filter.author = reader.name("author")
      filter.error = reader.name("error")
      filter.createdAfter = reader.time("created_after")
      filter.createdBefore = reader.time("created_before")
      return true
    }
    if let change = action?.change {
      if filter.states.isEmpty { filter.states = change.standard }
      if !filter.states.isSubset(of: change.states) {
        let names = change.states.map(\.rawValue).sorted().joined(separator: ", ")
        reader.refuse("filter.state", "expected only states whose jobs can be changed so: \(names)")
      }
    }
    filter.asOf = reader.time("before")
    limit = reader.integer("limit", in: 1...Self.maxJobs) ?? Self.maxJobs
    isDryRun = reader.flag("dry_run")
    try reader.check()
    self.action = action ?? .retry
    self.filter = filter
  }
}

/// The JSON of a change of jobs: how many the filter selects, how many are changed or would be, and how many another request may change.
struct JobBatchResponse: Encodable {
  let matched: Int
  let changed: Int
  let remaining: Int
  let before: Date?
}
