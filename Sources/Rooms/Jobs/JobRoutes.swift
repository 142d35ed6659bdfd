import FoundationEssentials
internal import HTTPServer
internal import Kit
internal import Model
internal import Postgres
internal import Queue
internal import Store

/// The routes of jobs. With those for operators, jobs are listed, retried and cancelled.
struct JobRoutes: RouteRoom {
  let kit: Kit
  let jobs: JobChangeNotifier
  let streams: OpenStreams
  let waits: SharedLimit

  var routes: [Route] {
    [
      route("GET", "/v1/jobs/{id}", access: .key([.read]), readsQuery: true, handler: readJob),
      route("GET", "/v1/jobs/{id}/events", access: .keyOrTicket([.read]), readsQuery: true, handler: readEvents),
      route("GET", "/v1/jobs", access: .key([.admin]), readsQuery: true, handler: listJobs),
      route("POST", "/v1/jobs/{id}/retry", access: .key([.admin]), handler: retryJob),
      route("POST", "/v1/jobs/{id}/cancel", access: .key([.admin]), handler: cancelJob),
    ]
  }

  private func readJob(_ request: Request) async throws -> Response {
    var reader = QueryReader(request.target)
    let seconds = Wait.seconds(&reader, request)
    try reader.finish()
    let id = try Self.jobID(request)
    var job = try await self.job(id, for: request)
    if seconds > 0, !job.state.isFinal,
      let ended = try await waits.admit(request, { try await self.jobs.end(of: id, within: .seconds(seconds)) })
    {
      job = ended
    }
    return try .uncached(JobResponse(job, prefix: access.urlPrefix))
  }

  /// Reads a job; throws a problem with status 404 if the client sees no such job. A user sees the jobs of what that user
  /// has submitted.
  private func job(_ id: PublicID, for request: Request) async throws -> JobRecord {
    guard let job = try await database.read({ try JobQueue.find(id, $0) }), request.caller.viewer.owns(job.author)
    else { throw Self.jobNotFound("\(id)") }
    return job
  }

  /// Streams the changes of a job until it is finished. A client that reconnects sends the id of its last event.
  private func readEvents(_ request: Request) async throws -> Response {
    var reader = QueryReader(request.target)
    _ = reader.text("ticket")
    let lastID = reader.text("last_event_id")
    try reader.finish()
    let id = try Self.jobID(request)
    let headers = OpenStreams.headers
    let events = JobEvents(lastID: request.headers["Last-Event-ID"] ?? lastID, prefix: access.urlPrefix)
    if request.method == "HEAD" {
      _ = try await job(id, for: request)
      return Response(.ok, headers: headers, body: .stream(events.stream))
    }
    // The job is read after subscribing: a change in between is never missed.
    do {
      events.attach(try streams.add(events.stream, of: request))
      events.attach(self.jobs.subscribe(to: id) { events.send($0) })
      let job = try await job(id, for: request)
      self.jobs.headStarts.ask(for: job.summary)
      events.begin(with: job)
    } catch {
      events.cancel()
      throw error
    }
    return Response(.ok, headers: headers, body: .stream(events.stream))
  }

  private static func jobID(_ request: Request) throws -> PublicID {
    let text = request.parameter("id")
    guard let id = PublicID(text) else { throw jobNotFound(text) }
    return id
  }

  private static func jobNotFound(_ id: String) -> Problem {
    ProblemKind.jobNotFound.problem("The job \(id) does not exist.")
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
    filter.before = reader.id("cursor", "the value of `next` from the previous page")
    try reader.finish()
    // One row more than the page has shows whether there is a next page.
    filter.limit = limit + 1
    let jobs = try await queryList(isWide: filter.error != nil) { [filter] session in
      try JobQueue.list(filter, session)
    }
    let page = jobs.prefix(limit)
    return try .uncached(
      PageResponse(
        items: page.map { JobEntryResponse($0, prefix: access.urlPrefix) },
        next: jobs.count > limit ? page.last?.publicID.description : nil))
  }

  private func retryJob(_ request: Request) async throws -> Response {
    let id = try Self.jobID(request)
    return try await respond(with: id, "retried") { session in
      guard let queue = try JobControl.retry(jobs: [id], session)[id] else { return false }
      try JobQueue.notify(queue: queue, session)
      try JobQueue.notifyChange(of: id, session)
      return true
    }
  }

  private func cancelJob(_ request: Request) async throws -> Response {
    let id = try Self.jobID(request)
    return try await respond(with: id, "cancelled") { session in
      guard try JobControl.cancel(job: id, session) != .notLive else { return false }
      try JobQueue.notifyChange(of: id, session)
      return true
    }
  }

  /// Changes a job, and returns it as it is before the commit; throws a problem with status 409 if its state does not allow the change.
  private func respond(
    with id: PublicID, _ name: String, changing change: @Sendable (Session) throws -> Bool
  ) async throws -> Response {
    let job = try await database.transaction { session in
      let isChanged = try change(session)
      guard let job = try JobQueue.find(id, session) else { throw Self.jobNotFound("\(id)") }
      guard isChanged else {
        throw ProblemKind.wrongJobState.problem("The job is \(job.state.rawValue) and cannot be \(name).")
      }
      return job
    }
    return try .uncached(JobEntryResponse(job, prefix: access.urlPrefix))
  }
}
