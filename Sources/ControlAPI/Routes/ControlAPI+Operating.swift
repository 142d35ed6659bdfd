import FoundationEssentials
internal import HTTPServer
internal import Model
internal import Postgres
internal import Queue
internal import Store

/// What operators ask of jobs: which there are, another attempt, an end.
extension ControlAPI {
  var operatingRoutes: [Route] {
    [
      route("GET", "/v1/jobs", needs: [.admin], handler: listJobs),
      route("POST", "/v1/jobs/{id}/retry", needs: [.admin], handler: retryJob),
      route("POST", "/v1/jobs/{id}/cancel", needs: [.admin], handler: cancelJob),
    ]
  }

  private func listJobs(_ request: Request) async throws -> Response {
    var reader = QueryReader(request.target)
    var filter = JobFilter()
    filter.states = reader.choices("state", of: JobState.self)
    filter.queue = reader.text("queue")
    filter.kind = reader.text("kind")
    filter.author = reader.text("author")
    filter.error = reader.text("error")
    filter.createdAfter = reader.time("created_after").map(Date.init(microseconds:))
    filter.createdBefore = reader.time("created_before").map(Date.init(microseconds:))
    filter.finishedAfter = reader.time("finished_after").map(Date.init(microseconds:))
    filter.finishedBefore = reader.time("finished_before").map(Date.init(microseconds:))
    filter.ids = reader.ids("id")
    let limit = reader.number("limit", in: PageRequest.limits) ?? PageRequest().limit
    filter.before = reader.id("cursor", "what `next` of a page held")
    try reader.finish()
    // One more tells whether there is another page.
    filter.limit = limit + 1
    let jobs = try await list { [filter] session in try JobQueue.list(filter, session) }
    let page = jobs.prefix(limit)
    return try .fresh(
      PageAnswer(
        items: page.map(JobEntryAnswer.init), next: jobs.count > limit ? page.last?.publicID.description : nil))
  }

  private func retryJob(_ request: Request) async throws -> Response {
    let id = try jobID(request)
    let wasDone = try await database.transaction { [store] session in
      guard let queue = try store.retry(jobs: [id], session)[id] else { return false }
      try JobQueue.notify(queue: queue, session)
      try JobQueue.notifyChange(of: id, session)
      return true
    }
    return try await answer(id, wasDone: wasDone, "tried again")
  }

  private func cancelJob(_ request: Request) async throws -> Response {
    let id = try jobID(request)
    let wasDone = try await database.transaction { [store] session in
      guard try store.cancel(job: id, session) != .notLive else { return false }
      try JobQueue.notifyChange(of: id, session)
      return true
    }
    return try await answer(id, wasDone: wasDone, "cancelled")
  }

  private func jobID(_ request: Request) throws -> PublicID {
    var reader = QueryReader(request.target)
    try reader.finish()
    let text = request.parameter("id")
    guard let id = PublicID(text) else { throw Self.noJob(text) }
    return id
  }

  /// The job as it is now, or why nothing was done to it.
  private func answer(_ id: PublicID, wasDone: Bool, _ what: String) async throws -> Response {
    guard let job = try await database.run({ try JobQueue.find(id, $0) }) else { throw Self.noJob(id.description) }
    guard wasDone else {
      throw ProblemKind.wrongJobState.problem("The job is \(job.state.rawValue) and cannot be \(what).")
    }
    return try .fresh(JobEntryAnswer(job))
  }
}
