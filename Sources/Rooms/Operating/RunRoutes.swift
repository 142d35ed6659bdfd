import FoundationEssentials
internal import HTTPServer
internal import Kit
internal import Model
internal import Platform
internal import Postgres
internal import Store

/// The routes of reprocessing runs.
struct RunRoutes: RouteRoom {
  let kit: Kit

  var routes: [Route] {
    let ended = EndedRuns()
    return [
      route("GET", "/v1/operations/runs", access: .key([.admin]), readsQuery: true) { try await list($0, ended) },
      route("POST", "/v1/operations/runs", access: .key([.admin]), bodyLimit: JSONBody.limit, handler: start),
      route("GET", "/v1/operations/runs/{id}", access: .key([.admin]), handler: read),
      route("PATCH", "/v1/operations/runs/{id}", access: .key([.admin]), bodyLimit: JSONBody.limit, handler: change),
    ]
  }

  /// The number of failures, and of items with further attempts, in the JSON of a run.
  private static let maxItems = 100

  private func list(_ request: Request, _ ended: EndedRuns) async throws -> Response {
    var reader = QueryReader(request.target)
    let limit = reader.number("limit", in: PageRequest.limits) ?? PageRequest().limit
    let before = reader.id("cursor", "the value of `next` from the previous page")
    try reader.finish()
    // One more than the page has shows whether there is a next page.
    let runs = try await queryList { session in
      try session.snapshot { session in
        try Reprocessing.list(limit: limit + 1, before: before, session).map { run in
          (run, try ended.counts(of: run) { try Reprocessing.counts(of: run, session) })
        }
      }
    }
    let page = runs.prefix(limit)
    return try .uncached(
      PageResponse(
        items: page.map { RunResponse($0.0, $0.1) }, next: runs.count > limit ? page.last?.0.id.description : nil))
  }

  private func start(_ request: Request) async throws -> Response {
    let draft = try RunDraft(fields: try await JSONBody.fields(of: request), try definitions.ofStoredMedia())
    let wanted = draft.request
    guard !draft.isDryRun else {
      return try .uncached(
        try await queryList(isWide: true) { session in
          try session.snapshot { session in
            RunEstimate(
              try Reprocessing.summarize(wanted, session),
              withoutSources: try Reprocessing.countWithoutSources(wanted, session))
          }
        })
    }
    return try await respond(.created) { session in
      guard let id = try Reprocessing.create(wanted, session) else {
        throw ProblemKind.nothingSelected.problem("No posts or images are selected.")
      }
      return id
    }
  }

  private func read(_ request: Request) async throws -> Response {
    let id = try Self.runID(request)
    let (run, json) = try await queryList { session in
      try session.snapshot { session in
        guard let run = try Reprocessing.find(id, session) else { throw Self.runNotFound("\(id)") }
        let json = RunDetailResponse(
          run: RunResponse(run, try Reprocessing.counts(of: run, session)),
          failures: try Reprocessing.failures(of: run, limit: Self.maxItems, session).map(RunItemResponse.init),
          retried: try Reprocessing.retriedItems(of: run, limit: Self.maxItems, session).map(RunItemResponse.init))
        return (run, json)
      }
    }
    return try .versioned(json, run)
  }

  /// What a client changes the state of a run to.
  private enum Change: String, CaseIterable {
    case paused, running, cancelled

    var state: ReprocessRun.State {
      switch self {
      case .paused: .paused
      case .running: .running
      case .cancelled: .cancelled
      }
    }
  }

  private func change(_ request: Request) async throws -> Response {
    let id = try Self.runID(request)
    var reader = FieldReader(try await JSONBody.fields(of: request), path: "")
    let change = reader.choice("state", of: Change.self, isRequired: true)
    try reader.check()
    return try await respond(.ok) { session in
      guard let run = try Reprocessing.findLocked(id, session) else { throw Self.runNotFound("\(id)") }
      try request.checkVersion(of: run)
      guard let change, try Reprocessing.change(run, to: change.state, session) else {
        throw ProblemKind.runEnded.problem("The run is \(RunResponse.name(of: run.state)).")
      }
      return id
    }
  }

  /// Changes a run, and returns the response with it, which is read before the commit.
  private func respond(
    _ status: Status, changing change: @Sendable (Session) throws -> PublicID
  ) async throws -> Response {
    let (run, counts) = try await database.transaction { session in
      let id = try change(session)
      guard let run = try Reprocessing.find(id, session) else { throw Self.runNotFound("\(id)") }
      return (run, try Reprocessing.counts(of: run, session))
    }
    let location = status == .created ? "/v1/operations/runs/\(run.id)" : nil
    return try .versioned(RunResponse(run, counts), run, status, at: location)
  }

  private static func runID(_ request: Request) throws(Problem) -> PublicID {
    let text = request.parameter("id")
    guard let id = PublicID(text) else { throw runNotFound(text) }
    return id
  }

  private static func runNotFound(_ id: String) -> Problem {
    ProblemKind.runNotFound.problem("The run \(id) does not exist.")
  }
}

/// A client changes the state of a run.
extension ReprocessRun: Versioned {
  var version: some Encodable { ["id": "\(id)", "state": state.rawValue] }
}

/// The counts of runs that have ended, which do not change: a run may have a million items.
private final class EndedRuns: Sendable {
  private struct Ending: Hashable {
    let id: PublicID
    /// A run that is continued, because one of its jobs is retried, ends another time.
    let at: Date?
  }

  private let known = Locked(RecentEntries<Ending, ReprocessCounts>(lifetime: .seconds(86_400), maxEntries: 1000))

  func counts(of run: ReprocessRun, _ read: () throws -> ReprocessCounts) rethrows -> ReprocessCounts {
    let ending = Ending(id: run.id, at: run.endedAt)
    if run.state.isFinal, let counts = known.withLock({ $0.value(of: ending) }) { return counts }
    let counts = try read()
    if run.state.isFinal, counts.started == 0 { known.withLock { $0.insert(counts, of: ending, at: .now) } }
    return counts
  }
}
