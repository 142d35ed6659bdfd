internal import Blobs
internal import HTTPServer
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
  /// The maximum time that a request waits, in seconds: less than the 60 after which URLSession and nginx give up by default.
  static let maxWait = 50

  let kit: Kit
  let space: MediaSpace
  let limit: SharedLimit
  let changes: Changes
  let waits: SharedLimit

  /// Returns a route that receives media: its requests are uploads, whose number is limited.
  ///
  /// An upload is refused before its body is read if the limit is reached or there is too little free space. It counts
  /// until it is stored, but not while its client waits for the job.
  ///
  /// - Parameters:
  ///   - posts: the number of posts that a request makes.
  ///   - submit: stores the submission of an authorized request.
  func upload(
    _ method: String, _ template: String, posts: Int = 0, bodyLimit: Int64,
    submit: @escaping @Sendable (Request) async throws -> StoredSubmission
  ) -> Route {
    route(method, template, access: .upload([.submit]), bodyLimit: bodyLimit, waitsForDisk: true) { request in
      if let replayed = await replay(of: request) { return await response(to: request, awaitingJobOf: replayed) }
      try space.check(for: request)
      let usage = DailyUsage(posts: posts, bytes: space.bytes(of: request))
      let senders = configuration.quotas.senders(request.caller, author: nil)
      if !senders.isEmpty {
        try await database.run { session in try Quotas.check(senders, usage, session) }
      }
      let stored = try await limit.admit(request) { try await submit(request) }
      return await response(to: request, awaitingJobOf: stored)
    }
  }

  /// Makes the files of a submission durable.
  func prepare(_ sources: [NewAsset]) async throws {
    for content in sources.map(\.content) {
      try await kit.writes.run { [blobs = space.blobs] () throws(BlobError) in try blobs.prepare(content) }
    }
  }

  /// Waits for the job of a submission if the request has the preference `wait` (RFC 7240, section 4.3), and returns the
  /// response with the finished post or image; after the timeout, the response to the submission.
  ///
  /// The submission is already stored. An error while waiting therefore does not fail the request.
  func response(to request: Request, awaitingJobOf stored: StoredSubmission) async -> Response {
    var response = stored.response
    // try?: the client reads the post or the image later. One that has its share of requests that wait gets no more of them.
    guard stored.status == .accepted, let seconds = Self.preferredWait(request.headers), let subject = stored.subject,
      let finished = try? await waits.admit(
        request, { try await finished(subject, stored.job, within: .seconds(seconds), request) })
    else { return response }
    response.status = .ok
    response.body = .bytes(finished.body)
    response.headers["ETag"] = finished.tag
    response.headers["Preference-Applied"] = "wait=\(seconds)"
    return response
  }

  /// Returns what is to say of a post or an image once its job has finished; nil if it has not within the limit.
  ///
  /// - Parameter job: nil: the job that the post or the image has.
  private func finished(
    _ subject: Subject, _ job: PublicID?, within limit: Duration, _ request: Request
  ) async throws -> SubjectContent? {
    func content() async throws -> SubjectContent? {
      let (viewer, urls) = (request.caller.viewer, access.mediaURLs(for: request))
      return try await database.run { try subject.content(viewer, urls, $0) }
    }
    var job = job
    if job == nil { job = try await content()?.job }
    guard let job, let ended = try await changes.jobs.end(of: job, within: limit), ended.state.isFinal else {
      return nil
    }
    return try await content()
  }

  /// Reads for how many seconds a request waits: by its parameter `wait`, or by its preference. A longer time is cut.
  static func wait(_ reader: inout QueryReader, _ request: Request) -> Int {
    min(reader.number("wait", in: 0...86_400) ?? preferredWait(request.headers) ?? 0, maxWait)
  }

  /// Waits until a post or an image that the client sees has been processed, for some seconds at most. What awaits uploads gets its job
  /// when they are there.
  func wait(_ seconds: Int, for subject: Subject, _ request: Request) async throws {
    let (viewer, urls, clock) = (request.caller.viewer, access.mediaURLs(for: request), ContinuousClock())
    let end = clock.now + .seconds(seconds)
    func processing() async throws -> (isGoingOn: Bool, job: PublicID?) {
      let content = try await database.read { try subject.content(viewer, urls, $0) }
      return (content?.isProcessing == true, content?.job)
    }
    guard seconds > 0, try await processing().isGoingOn else { return }
    try await waits.admit(request) {
      while clock.now < end, case (true, let job) = try await processing() {
        if let job {
          _ = try await changes.jobs.end(of: job, within: clock.now.duration(to: end))
          return
        }
        try await Task.sleep(for: min(Self.uploadPause, clock.now.duration(to: end)))
      }
    }
  }

  /// The time between two looks at a post that awaits uploads: nothing reports when they are there.
  private static let uploadPause = Duration.seconds(1)

  /// Returns the seconds of a preference `wait=N`, at most `maxWait`; nil if it is absent or invalid.
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

extension Metrics {
  /// Counts the media of a submission.
  func count(_ kind: String, _ sources: [NewAsset]) {
    let bytes = sources.map(\.content.bytes).reduce(0, +)
    count("take5_submissions_total", "Submissions stored.", ["kind": kind])
    count("take5_upload_bytes_total", "Bytes of media stored by submissions.", ["kind": kind], by: Double(bytes))
  }
}

extension Request {
  /// The request, as its job keeps it.
  var jobRequest: JobRequest { JobRequest(id: id.description, trace: trace?.description) }
}
