internal import HTTPServer
internal import Model
internal import Postgres
internal import Queue
internal import Store

/// Submissions that wait for their jobs.
extension ControlAPI {
  /// The maximum time that a request waits, in seconds.
  static let maxWait = 60

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
    response.body = .bytes(finished)
    response.headers["Preference-Applied"] = "wait=\(seconds)"
    return response
  }

  /// Returns the JSON of a post or an image once its job has finished; nil if it has not within the limit.
  ///
  /// - Parameter job: nil: the job that the post or the image has.
  private func finished(
    _ subject: Subject, _ job: PublicID?, within limit: Duration, _ request: Request
  ) async throws -> [UInt8]? {
    func content() async throws -> (job: PublicID?, isProcessing: Bool, body: [UInt8])? {
      let (store, viewer, urls) = (store, request.caller.viewer, access.mediaURLs(for: request))
      return try await database.run { try subject.content(store, viewer, urls, $0) }
    }
    var job = job
    if job == nil { job = try await content()?.job }
    guard let job, let ended = try await changes.jobs.end(of: job, within: limit), ended.state.isFinal else {
      return nil
    }
    return try await content()?.body
  }

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
