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
    // Whatever it loses is tried again: better it than its parent, or than somebody else's process.
    ThisProcess.offerToOutOfMemoryKiller()
    try ThisProcess.denyDumps()
    for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, SIG_IGN) }
    let socket = MessageSocket(Descriptor(owning: MediaProcess.socketNumber))
    try MediaChild(socket: socket).answerRequests()
  }

  // Done once, by the first clip: a process that answers for photos alone never loads FFmpeg's libraries.
  private static let clipLibraries: Void = MediaLibraries.configure(
    isPortable: getenv(MediaProcess.portableVariable) != nil)

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
    case .probe(let inputs, let limits):
      guard files.count == inputs.count else { throw Self.miscounted }
      return .probed(try probe(zip(inputs, files).map { (input: $0, file: $1) }, limits: limits))
    case .run(let plan, let mode, let inputs, let outputs):
      guard files.count == inputs.count + outputs.count else { throw Self.miscounted }
      return try run(
        plan, mode: mode, inputs: Dictionary(uniqueKeysWithValues: zip(inputs, files)),
        outputs: Dictionary(uniqueKeysWithValues: zip(outputs, files.dropFirst(inputs.count))))
    case .photo(let plan, let outputs):
      guard let photo = files.first, files.count == 1 + outputs.count else { throw Self.miscounted }
      let files = Dictionary(uniqueKeysWithValues: zip(outputs, files.dropFirst()))
      do {
        return .photo(try PhotoRunner(plan).run(photo, outputs: files))
      } catch {
        throw MediaFailure(error)
      }
    }
  }

  /// Reads the headers of all inputs, beside each other: somebody waits for them.
  private borrowing func probe(
    _ inputs: [(input: InputName, file: OpenFile)], limits: Limits
  ) throws(MediaFailure) -> ProbeReport {
    _ = Self.clipLibraries
    let answers = Channel<ProbeAnswer>(capacity: max(1, inputs.count))
    for (input, file) in inputs.dropFirst() {
      do {
        try NamedThread(name: "probe \(input.rawValue)") {
          _ = answers.put(ProbeAnswer(input, file, limits: limits))
        }.detach()
      } catch {
        throw MediaFailure(.unavailable, "a thread could not be started: \(error)")
      }
    }
    if let first = inputs.first { _ = answers.put(ProbeAnswer(first.input, first.file, limits: limits)) }
    var found: [InputName: ProbeAnswer] = [:]
    for _ in inputs {
      guard let answer = answers.take() else { break }
      found[answer.input] = answer
    }
    var report = ProbeReport()
    for (input, _) in inputs {
      switch found[input]?.result {
      case .success(.success(let facts)): report.facts[input] = facts
      case .success(.failure(let reason)): report.reasons.append(reason)
      case .failure(let error): throw MediaFailure(error)
      case nil: throw MediaFailure(.internal, "the input \(input.rawValue) was not answered")
      }
    }
    return report
  }

  private borrowing func run(
    _ plan: Plan, mode: ExecutionMode, inputs: [InputName: OpenFile], outputs: [Role: OpenFile]
  ) throws(MediaFailure) -> MediaReply {
    _ = Self.clipLibraries
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
      case .outOfMemory: .memoryLimitExceeded
      case .inputOutput: .unavailable
      case .invalidPlan: .protocolViolation
      case .library: .internal
      }
    self.init(kind, error.detail)
  }
}
