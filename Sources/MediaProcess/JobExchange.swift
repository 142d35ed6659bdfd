import Glibc
import Platform

/// A request with the files that are sent with it.
struct JobRequest {
  let message: MediaRequest
  let files: [OpenFile]
}

/// The conversation with one child: it sends facts, which a plan can follow, progress, one result or failure, and ends.
struct JobExchange {
  let limits: MediaCrash.Limits
  let deadline: Duration
  let cancellation: CancellationFlag

  /// The time in which a child ends after its last reply.
  private static let endTimeout = Duration.seconds(5)

  /// Sends the request to a new child, receives its replies, and waits for its end; kills it at the deadline, if the job is
  /// cancelled, or if it does not follow the protocol.
  func complete(
    _ request: JobRequest, in server: MediaServer, next: (ProbeReport) throws(MediaFailure) -> JobRequest?,
    progress: (Double) -> Void
  ) throws -> MediaReply {
    let child = try server.fork(limits)
    var request = request
    var monitor = ChildMonitor(
      of: child.process, in: server.memory, stage: request.message.stage, limits: limits)
    let reply: MediaReply?
    do {
      _ = try send(request, to: child)
      reply = try receive(from: child, asked: &request, &monitor, next: next, progress: progress)
    } catch {
      _ = try server.kill(child)
      throw error
    }
    guard let end = try server.waitForEnd(atMost: Self.endTimeout) else {
      _ = try server.kill(child)
      throw MediaFailure(.protocolViolation, "the media process closed its socket and kept running")
    }
    if let failure = monitor.failure(after: end) { throw failure }
    switch reply {
    case .failure(let failure): throw failure.reported(by: monitor.stage, limits, request.files)
    case let reply?: return reply
    case nil: throw MediaFailure(.protocolViolation, "the media process ended without a reply")
    }
  }

  /// Sends a request; false if the child cannot receive it, because it has ended, which is seen by its end.
  private func send(_ request: JobRequest, to child: borrowing JobChild) throws(MediaFailure) -> Bool {
    let message = try Envelope.encode(request.message)
    do throws(SystemError) {
      // A child that reads nothing does not block this: two requests, the first of them short, fit into the socket.
      try Failpoint.request.around { () throws(SystemError) in
        try child.socket.send(message, descriptors: request.files.map { $0.descriptor.number })
      }
      return true
    } catch {
      if error.code == EPIPE || error.code == ECONNRESET { return false }
      // Anything else is not the media's doing, and a child without a request would wait until its deadline.
      throw MediaFailure(.unavailable, "the request cannot be sent: \(error)")
    }
  }

  /// Receives until the child closes its socket. Returns its last reply; nil if there was none.
  private func receive(
    from child: borrowing JobChild, asked request: inout JobRequest, _ monitor: inout ChildMonitor,
    next: (ProbeReport) throws(MediaFailure) -> JobRequest?, progress: (Double) -> Void
  ) throws -> MediaReply? {
    let clock = ContinuousClock()
    var start = clock.now
    var end = start + deadline
    var reported = ProgressCheck()
    var reply: MediaReply?
    while true {
      if cancellation.isCancelled { throw MediaFailure(.cancelled, "the job was cancelled") }
      let remaining = clock.now.duration(to: end)
      // Also after the deadline: a reply may be waiting if this process was stopped.
      let slice = Int32(max(.zero, min(remaining, .milliseconds(100))) / .milliseconds(1)) + 1
      guard try child.socket.waitReadable(milliseconds: slice) else {
        guard remaining <= .zero else { continue }
        throw reply == nil
          ? monitor.failure(afterDeadline: start.duration(to: end))
          : MediaFailure(.protocolViolation, "the media process kept running after its reply")
      }
      let message: MessageSocket.Message?
      do {
        message = try child.socket.receive()
      } catch {
        throw MediaFailure(.protocolViolation, "the reply of the media process cannot be received: \(error)")
      }
      guard let message else { return reply }
      for number in message.descriptors { _ = Descriptor(owning: number) }
      guard reply == nil else {
        throw MediaFailure(.protocolViolation, "the media process sent a message after its reply")
      }
      switch try Envelope<MediaReply>.decode(message.bytes) {
      case .progress(let fraction):
        guard monitor.stage == .run else {
          throw MediaFailure(.protocolViolation, "progress of a \(monitor.stage.rawValue)")
        }
        if let fraction = try reported.accept(fraction, after: start.duration(to: clock.now)) { progress(fraction) }
      case let received:
        if case .probed(let report) = received, monitor.stage == .probe, let following = try next(report) {
          guard try send(following, to: child) else { return nil }
          request = following
          monitor.begin(request.message.stage)
          start = clock.now
        } else {
          reply = received
          child.socket.endSending()
          end = min(end, clock.now + Self.endTimeout)
        }
      }
    }
  }
}
