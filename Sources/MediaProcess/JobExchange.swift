import Glibc
import Platform

/// The replies of one child: it sends progress, one result or failure, and ends.
struct JobExchange {
  let stage: MediaCrash.Stage
  let limits: MediaCrash.Limits
  let deadline: Duration
  let cancellation: CancellationFlag

  /// The time in which a child ends after its reply.
  private static let endTimeout = Duration.seconds(5)

  /// Sends the request to a new child, receives its reply, and waits for its end; kills it at the deadline, if the job is
  /// cancelled, or if it does not follow the protocol.
  func complete(
    _ request: [UInt8], descriptors: [Int32], in server: MediaServer, progress: (Double) -> Void
  ) throws -> MediaReply {
    let child = try server.fork(limits)
    let monitor = ChildMonitor(of: child.process, in: server.memory, stage: stage, limits: limits)
    let reply: MediaReply?
    do {
      try send(request, descriptors, to: child)
      reply = try receive(from: child, monitor, progress: progress)
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
    case .failure(let failure): throw failure.reported(by: stage, limits, descriptors)
    case let reply?: return reply
    case nil: throw MediaFailure(.protocolViolation, "the media process ended without a reply")
    }
  }

  private func send(_ request: [UInt8], _ descriptors: [Int32], to child: borrowing JobChild) throws(MediaFailure) {
    do throws(SystemError) {
      try Failpoint.request.around { () throws(SystemError) in
        try child.socket.send(request, descriptors: descriptors)
      }
    } catch {
      // A child that cannot receive has ended, which is seen by its end. Anything else is not the media's doing, and a child
      // without a request would wait until its deadline.
      guard error.code == EPIPE || error.code == ECONNRESET else {
        throw MediaFailure(.unavailable, "the request cannot be sent: \(error)")
      }
    }
  }

  /// Receives until the child closes its socket. Returns its reply; nil if there was none.
  private func receive(
    from child: borrowing JobChild, _ monitor: ChildMonitor, progress: (Double) -> Void
  ) throws -> MediaReply? {
    let clock = ContinuousClock()
    let start = clock.now
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
          ? monitor.failure(afterDeadline: deadline)
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
        guard stage == .run else { throw MediaFailure(.protocolViolation, "progress of a \(stage.rawValue)") }
        if let fraction = try reported.accept(fraction, after: start.duration(to: clock.now)) { progress(fraction) }
      case let result:
        reply = result
        end = min(end, clock.now + Self.endTimeout)
      }
    }
  }
}
