internal import HTTPServer
internal import Model
internal import Postgres
internal import Queue
internal import Store

/// Jobs, and waiting for them.
extension ControlAPI {
  var jobRoutes: [Route] {
    [
      route("GET", "/v1/jobs/{id}", needs: [.read], handler: readJob),
      route("GET", "/v1/jobs/{id}/events", needs: [.read], handler: readEvents),
    ]
  }

  /// The longest that a request waits, in seconds.
  static let maxWait = 60

  private func readJob(_ request: Request) async throws -> Response {
    var reader = QueryReader(request.target)
    let seconds = reader.number("wait", in: 0...Self.maxWait) ?? 0
    try reader.finish()
    let text = request.parameter("id")
    guard let id = PublicID(text) else { throw Self.noJob(text) }
    let job =
      seconds > 0
      ? try await watch.end(of: id, within: .seconds(seconds))
      : try await database.read { try JobQueue.find(id, $0) }
    guard let job else { throw Self.noJob(text) }
    return try .fresh(JobAnswer(job))
  }

  /// Tells of a job as long as it is not over, woken by the database; a client that comes back says what it heard last.
  private func readEvents(_ request: Request) async throws -> Response {
    var reader = QueryReader(request.target)
    try reader.finish()
    let text = request.parameter("id")
    guard let id = PublicID(text) else { throw Self.noJob(text) }
    // A proxy that gathers answers before it passes them on, as nginx does unless told, leaves this one alone.
    let headers: HeaderFields = [
      "Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no",
    ]
    let events = JobEvents(lastID: request.headers["Last-Event-ID"])
    if request.method == "HEAD" {
      guard try await database.read({ try JobQueue.find(id, $0) }) != nil else { throw Self.noJob(text) }
      return Response(.ok, headers: headers, body: .stream(events.stream))
    }
    events.keep(watch.subscribe(to: id) { events.tell($0) })
    // After subscribing: what changes in between is told twice, and never missed.
    do {
      guard let job = try await database.read({ try JobQueue.find(id, $0) }) else { throw Self.noJob(text) }
      events.tell(job)
    } catch {
      events.cancel()
      throw error
    }
    return Response(.ok, headers: headers, body: .stream(events.stream))
  }

  static func noJob(_ id: String) -> Problem { ProblemKind.jobNotFound.problem("There is no job \(id).") }

  /// Answers a submission once its job is over, if the client prefers to wait (RFC 7240, section 4.3), with what became of
  /// it; after the time that it would wait, as it was.
  ///
  /// It is taken in already: whatever becomes of the waiting, the answer tells so and is no failure.
  func waiting(_ request: Request, for response: Response) async -> Response {
    guard response.status == .accepted, let seconds = Self.preferredWait(request.headers),
      case .bytes(let body) = response.body, let submitted = try? JSON.decode(Submitted.self, from: body)
    else { return response }
    guard let job = submitted.job, let ended = try? await watch.end(of: job.id, within: .seconds(seconds)),
      ended.state.isFinal
    else { return response }
    let (store, urls, isPost) = (
      store, access.mediaURLs(for: request), response.headers["Location"]?.hasPrefix("/v1/posts/") == true
    )
    let now = try? await database.run { session -> [UInt8]? in
      if isPost { return try store.post(submitted.id, session).map { try JSON.encode(PostAnswer($0, urls)) } }
      return try store.image(submitted.id, session).map { try JSON.encode(ImageAnswer($0, urls)) }
    }
    guard let now = now ?? nil else { return response }
    var answer = response
    answer.status = .ok
    answer.body = .bytes(now)
    answer.headers["Preference-Applied"] = "wait=\(seconds)"
    return answer
  }

  private struct Submitted: Decodable {
    struct Job: Decodable { let id: PublicID }
    let id: PublicID
    let job: Job?
  }

  /// The seconds of a preference `wait=N`, `maxWait` at most; nil: none, or none that makes sense.
  static func preferredWait(_ headers: HeaderFields) -> Int? {
    for preference in headers.list("Prefer") {
      let parts = preference.split(separator: "=", maxSplits: 1)
      guard parts.count == 2, parts[0].lowercased() == "wait", let seconds = Int(parts[1]), seconds > 0 else {
        continue
      }
      return min(seconds, maxWait)
    }
    return nil
  }
}
