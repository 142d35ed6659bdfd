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
  /// finished post or image; after the timeout, returns `response` unchanged.
  ///
  /// The submission is already stored. An error while waiting therefore does not fail the request.
  func awaitingJob(of response: Response, _ request: Request) async -> Response {
    guard response.status == .accepted, let seconds = Self.preferredWait(request.headers),
      case .bytes(let body) = response.body, let submitted = try? JSON.decode(Submitted.self, from: body)
    else { return response }
    guard let job = submitted.job, let ended = try? await jobChanges.end(of: job.id, within: .seconds(seconds)),
      ended.state.isFinal
    else { return response }
    let (store, urls, isPost) = (
      store, access.mediaURLs(for: request), response.headers["Location"]?.hasPrefix("/v1/posts/") == true
    )
    let finished = try? await database.run { session -> [UInt8]? in
      if isPost { return try store.post(submitted.id, session).map { try JSON.encode(PostResponse($0, urls)) } }
      return try store.image(submitted.id, session).map { try JSON.encode(ImageResponse($0, urls)) }
    }
    guard let finished = finished ?? nil else { return response }
    var updated = response
    updated.status = .ok
    updated.body = .bytes(finished)
    updated.headers["Preference-Applied"] = "wait=\(seconds)"
    return updated
  }

  private struct Submitted: Decodable {
    struct Job: Decodable { let id: PublicID }
    let id: PublicID
    let job: Job?
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
