internal import HTTPServer
internal import Model
internal import Platform
internal import Queue

/// The events of one job for one client (WHATWG HTML, section 9.2, server-sent events): each tells the job as it is, the
/// last one that it is over.
///
/// An event's id names what it tells: whoever comes back with the last id that was heard gets the next event that tells
/// something else.
final class JobEvents: Sendable {
  let stream: BodyStream
  private let lastID: Locked<String?>
  private let ending: Ending

  /// - Parameter lastID: what the client heard before, by `Last-Event-ID`.
  init(lastID: String?) {
    self.lastID = Locked(lastID)
    let ending = Ending()
    self.ending = ending
    stream = BodyStream { _ in ending.come() }
  }

  /// Takes over the right to be told; it is given back when the stream ends.
  func keep(_ subscription: JobSubscription) { ending.keep(subscription) }

  /// Gives up a stream that is not answered with.
  func cancel() { ending.come() }

  /// Tells of the job, if there is something new to be told.
  func tell(_ job: JobRecord) {
    guard let answer = try? JSON.text(JobAnswer(job)) else { return }
    let id = Self.id(of: job)
    let isNew = lastID.withLock { lastID in
      defer { lastID = id }
      return lastID != id
    }
    if isNew {
      stream.write(Array("id: \(id)\nevent: \(job.state.isFinal ? "end" : "progress")\ndata: \(answer)\n\n".utf8))
    }
    if job.state.isFinal { stream.finish() }
  }

  /// What is to be given back once the client is gone, whichever comes first.
  private final class Ending: Sendable {
    private let state = Locked<(subscription: JobSubscription?, isOver: Bool)>((nil, false))

    func keep(_ subscription: JobSubscription) {
      let isOver = state.withLock { state in
        state.subscription = subscription
        return state.isOver
      }
      if isOver { subscription.cancel() }
    }

    func come() {
      let subscription = state.withLock { state in
        state.isOver = true
        return state.subscription
      }
      subscription?.cancel()
    }
  }

  private static func id(of job: JobRecord) -> String {
    "\(job.attempt).\(job.state.rawValue).\(job.progress.stage).\(Int((job.progress.fraction * 1000).rounded()))"
  }
}
