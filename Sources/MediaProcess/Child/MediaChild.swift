import Glibc
import Media
import Model
import Platform

/// The media process's side: answers one request after the other until its socket is closed.
///
/// It opens nothing: the inputs and outputs come as descriptors with each request.
package struct MediaChild: ~Copyable {
  private let socket: MessageSocket
  private let clock = ContinuousClock()

  /// Serves the parent over the socket that it was started with; returns when the parent closes it.
  package static func serve() throws {
    try ThisProcess.denyDumps()
    for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, SIG_IGN) }
    MediaLibraries.configure(isPortable: getenv(MediaProcess.portableVariable) != nil)
    let socket = MessageSocket(Descriptor(owning: MediaProcess.socketNumber))
    try MediaChild(socket: socket).answerRequests()
  }

  private init(socket: consuming MessageSocket) { self.socket = socket }

  private borrowing func answerRequests() throws {
    while let message = try socket.receive() {
      let files = message.descriptors.map { OpenFile(Descriptor(owning: $0)) }
      let reply: MediaReply
      do {
        reply = try answer(Envelope<MediaRequest>.decode(message.bytes), files: files)
      } catch {
        reply = .failure(error)
      }
      try socket.send(Envelope.encode(reply))
    }
  }

  private borrowing func answer(_ request: MediaRequest, files: [OpenFile]) throws(MediaFailure) -> MediaReply {
    switch request {
    case .probe(let input, let limits):
      guard files.count == 1 else { throw Self.miscounted }
      do {
        switch try Prober(limits: limits).probe(files[0], as: input) {
        case .success(let facts): return .facts(facts)
        case .failure(let reason): return .refused(reason)
        }
      } catch {
        throw MediaFailure(error)
      }
    case .run(let plan, let mode, let inputs, let outputs):
      guard files.count == inputs.count + outputs.count else { throw Self.miscounted }
      return try run(
        plan, mode: mode, inputs: Dictionary(uniqueKeysWithValues: zip(inputs, files)),
        outputs: Dictionary(uniqueKeysWithValues: zip(outputs, files.dropFirst(inputs.count))))
    }
  }

  private borrowing func run(
    _ plan: Plan, mode: ExecutionMode, inputs: [InputName: OpenFile], outputs: [Role: OpenFile]
  ) throws(MediaFailure) -> MediaReply {
    let cancellation = CancellationFlag()
    var next = clock.now
    do {
      let report = try PlanRunner(plan, mode: mode, cancellation: cancellation).run(inputs: inputs, outputs: outputs) {
        fraction in
        guard clock.now >= next else { return }
        next = clock.now + .milliseconds(200)
        tell(fraction, cancelling: cancellation)
      }
      return .result(report)
    } catch {
      throw MediaFailure(error)
    }
  }

  // A parent that is gone is heard here: it never speaks while a run is under way, it ends the process to cancel.
  private borrowing func tell(_ fraction: Double, cancelling cancellation: CancellationFlag) {
    do {
      try socket.send(Envelope<MediaReply>.encode(.progress(fraction)))
      if try socket.waitReadable(milliseconds: 0) { cancellation.cancel() }
    } catch {
      cancellation.cancel()
    }
  }

  private static var miscounted: MediaFailure {
    MediaFailure(.protocolViolation, "the descriptors do not fit the request")
  }
}

extension MediaFailure {
  /// A fault of the media work, as the parent tells it apart.
  fileprivate init(_ error: MediaError) {
    let kind: Kind =
      switch error.kind {
      case .cancelled: .cancelled
      case .outOfSpace: .outOfSpace
      // What a file makes the libraries ask for counts against the file, like the crash that it nearly was.
      case .outOfMemory: .crashed
      case .inputOutput: .unavailable
      case .invalidPlan: .protocolViolation
      case .library: .internal
      }
    self.init(kind, error.detail)
  }
}
