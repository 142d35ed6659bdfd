internal import Blobs
internal import HTTPServer
internal import Kit
internal import Model
internal import Postgres
internal import Queue
internal import Store
internal import Telemetry

/// How submissions with media are received, whatever they are: limited, durable before they are stored, and with a response that
/// waits for the job if the client wants that.
struct MediaSubmissions: KitHolder {
  /// The share of a user of the submissions that are received at the same time.
  static let userSubmissions = 16
  /// The maximum number of requests that wait for a job, and the share of a user.
  static let maxWaits = 8192
  static let userWaits = 16

  /// The maximum total length of the fields in bytes.
  static let maxTextBytes = 64 << 10

  /// The maximum length of a form without media in bytes, including the delimiters of its parts.
  static let maxTextFormBytes = Int64(maxTextBytes) + 4096

  let kit: Kit
  let space: MediaSpace
  let uploads: LocalUploads
  let limit: SharedLimit
  let jobs: JobChangeNotifier
  let waits: SharedLimit

  /// Returns a route that receives media: its requests are uploads, whose number is limited. This is the whole life of a submission.
  ///
  /// An upload is refused before its body is read if the limit is reached or there is too little free space. It counts
  /// until it is stored, but not while its client waits for the job. Its media are durable on disk then, but not processed yet.
  ///
  /// - Parameters:
  ///   - posts: the number of posts that a request makes.
  ///   - receive: reads the submission of an authorized request; its media are staged and hashed as they arrive.
  func upload(
    _ method: String, _ template: String, posts: Int = 0, bodyLimit: Int64,
    receive: @escaping @Sendable (Request) async throws -> ReceivedSubmission
  ) -> Route {
    route(method, template, access: .upload([.submit]), bodyLimit: bodyLimit, waitsForDisk: true) { request in
      if let replayed = await replay(of: request) { return await response(to: request, awaitingJobOf: replayed) }
      try await check(request, posts: posts)
      let stored = try await limit.admit(request) {
        let submission = try await receive(request)
        try access.countSubmission(of: submission.author, request)
        let sources = try submission.sources()
        try await prepare(sources)
        let stored = try await store(submission, sources, posts: posts, request)
        finish(submission, sources, stored)
        return stored
      }
      return await response(to: request, awaitingJobOf: stored)
    }
  }

  /// Throws a problem if there is no room for a submission, or if it would pass the quota of a sender, as far as its head says.
  private func check(_ request: Request, posts: Int) async throws {
    // A short form may contain only text, which needs no space for media. The space is checked again when a part with media begins.
    let bytes = request.head.contentLength.map { $0 > Self.maxTextFormBytes ? $0 : 0 }
    if bytes != 0 { try space.check(reserving: bytes ?? 0) }
    let usage = DailyUsage(posts: posts, bytes: bytes ?? 0)
    let senders = kit.quotas.senders(request.caller, author: nil)
    if !senders.isEmpty {
      try await database.run { session in try Quotas.check(senders, usage, session) }
    }
  }

  /// Makes the files of a submission durable.
  private func prepare(_ sources: [NewAsset]) async throws {
    for content in sources.map(\.content) {
      try await kit.writes.run { [blobs = space.blobs] () throws(BlobError) in try blobs.prepare(content) }
    }
  }

  private func store(
    _ submission: ReceivedSubmission, _ sources: [NewAsset], posts: Int, _ request: Request
  ) async throws -> StoredSubmission {
    let senders = kit.quotas.senders(request.caller, author: submission.author)
    let bytes = submission.references == nil ? sources.map(\.content.bytes).reduce(0, +) : 0
    return try await storeOnce(request, submission.kind, payload: submission.payload, publishing: sources) { session in
      if case .missing(let problem) = submission.content { throw problem }
      let stored = try submission.insert(sources, session)
      // Last, because other submissions of the senders wait for the commit.
      try Quotas.charge(senders, DailyUsage(posts: posts, bytes: bytes), session)
      return stored
    }
  }

  /// Removes the uploads that a stored submission has used, or notes which post awaits them.
  private func finish(_ submission: ReceivedSubmission, _ sources: [NewAsset], _ stored: StoredSubmission) {
    switch (submission.content, stored.subject) {
    case (.awaited(let awaited), .post(let id)): uploads.register(awaited, awaitedBy: id)
    // The first request may have stored a post that still awaits what is whole by now.
    case (.files, .post(let id)) where stored.isReplay: uploads.awaitingPosts.reconsider(id)
    case (.files, _): uploads.remove((submission.references?.all ?? []).map(\.upload))
    default: break
    }
    if !stored.isReplay, case .files = submission.content { kit.metrics.count(submission.kind.rawValue, sources) }
  }

  /// Waits for what became of a submission if the request has the preference `wait` (RFC 7240, section 4.3), and returns the
  /// response with the post or image; after the timeout, the response to the submission.
  ///
  /// The submission is already stored. An error while waiting therefore does not fail the request.
  private func response(to request: Request, awaitingJobOf stored: StoredSubmission) async -> Response {
    var response = stored.response
    // try?: the client reads the post or the image later. One that has its share of requests that wait gets no more of them.
    guard stored.status == .accepted, let wait = Wait(preferredBy: request.headers), let subject = stored.subject,
      let content = try? await self.content(of: subject, after: wait, request), wait.goal.isReached(by: content)
    else { return response }
    response.status = .ok
    response.body = .bytes(content.body)
    response.headers["ETag"] = content.tag
    response.headers["Preference-Applied"] = wait.description
    return response
  }

  /// Waits for what a client that sees a post or an image wants to see of it.
  func wait(_ wait: Wait, for subject: Subject, _ request: Request) async throws {
    if wait.seconds > 0 { _ = try await content(of: subject, after: wait, request) }
  }

  /// Returns what is to say of a post or an image after a wait; nil if the viewer sees no such subject. What awaits uploads gets its job
  /// when they are there.
  private func content(of subject: Subject, after wait: Wait, _ request: Request) async throws -> SubjectContent? {
    let (viewer, urls, clock) = (request.caller.viewer, access.mediaURLs(for: request), ContinuousClock())
    let end = clock.now + .seconds(wait.seconds)
    func read() async throws -> SubjectContent? { try await database.read { try subject.content(viewer, urls, $0) } }
    guard let first = try await read() else { return nil }
    if wait.goal.isReached(by: first) { return first }
    return try await waits.admit(request) {
      var content: SubjectContent? = first
      while let now = content, !wait.goal.isReached(by: now), clock.now < end {
        let rest = clock.now.duration(to: end)
        if let job = now.job {
          // A client that waits for the look alone has it before all compositions.
          if wait.goal == .ready, now.isOwn { jobs.headStarts.ask(for: job) }
          try await jobs.wait(for: job.id, within: rest, toEnd: wait.goal == .ready) {
            content = try await read()
            return content.map(wait.goal.isReached) ?? true
          }
          return content
        }
        try await Task.sleep(for: min(Self.uploadPause, rest))
        content = try await read()
      }
      return content
    }
  }

  /// The time between two looks at a post that awaits uploads: nothing reports when they are there.
  private static let uploadPause = Duration.seconds(1)
}

/// A submission as a room has read it from its request, with the function by which the room stores it.
struct ReceivedSubmission: Sendable {
  /// Where the media are.
  enum Content: Sendable {
    case files(ArrangedMedia<JudgedFile>)
    /// Bytes of some of the uploads are still to come.
    case awaited([AwaitedUpload])
    /// An upload does not exist. An earlier request with the same idempotency key may have used it.
    case missing(Problem)
  }

  /// The kind that an upload grant must permit.
  let kind: SubmissionKind
  /// The user whose limits it counts for: its author, or the owner of an image without one.
  let author: String
  let content: Content
  /// The uploads that it names; nil: it has sent files.
  let references: UploadReferences?
  /// Requests with the same idempotency key must have an equal payload.
  let payload: [[UInt8]]
  /// Inserts it with its sources in a transaction, unless an upload is missing.
  let insert: @Sendable ([NewAsset], Session) throws -> StoredSubmission

  /// Returns the media as assets; throws `MediaRefusal` if they are refused. A post judges uploads once they are whole.
  func sources() throws(MediaRefusal) -> [NewAsset] {
    if case .files(let media) = content { try media.sources() } else { [] }
  }
}

extension Metrics {
  /// Counts the media of a submission.
  func count(_ kind: String, _ sources: [NewAsset]) {
    let bytes = sources.map(\.content.bytes).reduce(0, +)
    count("take5_submissions_total", "Submissions stored.", ["kind": kind])
    count("take5_upload_bytes_total", "Bytes of media stored by submissions.", ["kind": kind], by: Double(bytes))
  }
}
