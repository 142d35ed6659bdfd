internal import HTTPServer
internal import Model
internal import Platform
internal import Queue

/// The server-sent events of one job for one client (WHATWG HTML, section 9.2): `progress` with each change, and `end`
/// when the job is finished.
///
/// The id of an event identifies the state that it reports. A client that reconnects with the id of its last event gets no
/// event until the state differs.
final class JobEvents: Sendable {
  let stream: BodyStream
  private let lastID: Locked<String?>
  private let lifetime: StreamLifetime

  /// - Parameter lastID: the value of the header field `Last-Event-ID`.
  init(lastID: String?) {
    self.lastID = Locked(lastID)
    let lifetime = StreamLifetime()
    self.lifetime = lifetime
    stream = BodyStream { _ in lifetime.end() }
  }

  /// Takes ownership of a subscription, which is cancelled when the stream ends.
  func attach(_ subscription: StreamSubscription) { lifetime.attach(subscription) }

  /// Cancels the subscription of a stream that is not used in a response.
  func cancel() { lifetime.end() }

  /// Sends an event with the job if its state differs from the last event.
  func send(_ job: JobRecord) {
    guard let data = try? JSON.text(JobResponse(job)) else { return }
    let id = Self.id(of: job)
    let isNew = lastID.withLock { lastID in
      defer { lastID = id }
      return lastID != id
    }
    if isNew {
      stream.write(Array("id: \(id)\nevent: \(job.state.isFinal ? "end" : "progress")\ndata: \(data)\n\n".utf8))
    }
    if job.state.isFinal { stream.finish() }
  }

  private static func id(of job: JobRecord) -> String {
    "\(job.attempt).\(job.state.rawValue).\(job.progress.stage).\(Int((job.progress.fraction * 1000).rounded()))"
  }
}
