internal import HTTPServer
internal import Kit
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
  private struct Sent {
    /// The id of the last event that the client has received.
    var lastID: String?
    var hasChanged = false
  }

  private let sent: Locked<Sent>
  private let lifetime: StreamLifetime

  private let prefix: String

  /// - Parameters:
  ///   - lastID: the value of the header field `Last-Event-ID`, or of the parameter that stands for it.
  ///   - prefix: that of the URLs of the service.
  init(lastID: String?, prefix: String) {
    self.prefix = prefix
    sent = Locked(Sent(lastID: lastID))
    let lifetime = StreamLifetime()
    self.lifetime = lifetime
    stream = BodyStream { _ in lifetime.end() }
  }

  /// Takes ownership of a subscription, which is cancelled when the stream ends.
  func attach(_ subscription: StreamSubscription) { lifetime.attach(subscription) }

  /// Cancels the subscription of a stream that is not used in a response.
  func cancel() { lifetime.end() }

  /// Sends an event with a job that has changed, if its state differs from the last event.
  func send(_ job: JobRecord) {
    sent.withLock { sent in
      sent.hasChanged = true
      write(job, &sent)
    }
  }

  /// Sends an event with the job as it was read after subscribing, unless a change was sent already: this one may be older.
  func begin(with job: JobRecord) {
    sent.withLock { sent in
      guard !sent.hasChanged else { return }
      let isKnown = sent.lastID == Self.id(of: job)
      write(job, &sent)
      // Something at once: a proxy may hold back the header section until the first bytes of the body.
      if isKnown && !job.state.isFinal { stream.write(BodyStream.emptyComment) }
    }
  }

  /// Writes under the lock, so that events have the order of their states.
  private func write(_ job: JobRecord, _ sent: inout Sent) {
    let id = Self.id(of: job)
    if sent.lastID != id, let data = try? JSON.text(JobResponse(job, prefix: prefix)) {
      sent.lastID = id
      stream.write(Array("id: \(id)\nevent: \(job.state.isFinal ? "end" : "progress")\ndata: \(data)\n\n".utf8))
    }
    if job.state.isFinal { stream.finish() }
  }

  private static func id(of job: JobRecord) -> String {
    "\(job.attempt).\(job.state.rawValue).\(job.progress.stage).\(Int((job.progress.fraction * 1000).rounded()))"
  }
}
