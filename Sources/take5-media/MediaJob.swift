import Glibc
import Media
import MediaProcess
import Model
import Platform

/// The job of one child of the fork server: it receives requests with their descriptors, and sends the replies.
///
/// It opens no files: inputs and outputs are descriptors that come with the requests.
struct MediaJob: ~Copyable {
  private let socket: MessageSocket
  private let clock = ContinuousClock()
  /// The inputs that were probed, for a run.
  private var inputs: [InputName: OpenFile] = [:]

  /// Performs one job; the parent sees the end of the child if a request or a reply cannot be transferred.
  static func perform(for socket: consuming MessageSocket) {
    var job = MediaJob(socket: socket)
    while let message = try? job.socket.receive() {
      let files = message.descriptors.map { OpenFile(Descriptor(owning: $0)) }
      let reply: MediaReply
      do {
        reply = try job.perform(Envelope<MediaRequest>.decode(message.bytes), files: files)
      } catch {
        reply = .failure(error)
      }
      guard (try? job.socket.send(Envelope.encode(reply))) != nil, case .probed = reply else { return }
    }
  }

  private init(socket: consuming MessageSocket) { self.socket = socket }

  private mutating func perform(_ request: MediaRequest, files: [OpenFile]) throws(MediaFailure) -> MediaReply {
    switch request {
    case .probe(let inputs, let limits):
      guard files.count == inputs.count else { throw Self.descriptorMismatch }
      self.inputs = Dictionary(uniqueKeysWithValues: zip(inputs, files))
      return .probed(try probe(zip(inputs, files).map { (input: $0, file: $1) }, limits: limits))
    case .run(let plan, let mode, let outputs):
      guard files.count == outputs.count else { throw Self.descriptorMismatch }
      return try run(plan, mode: mode, outputs: Dictionary(uniqueKeysWithValues: zip(outputs, files)))
    case .photo(let plan, let outputs):
      guard let photo = files.first, files.count == 1 + outputs.count else { throw Self.descriptorMismatch }
      let files = Dictionary(uniqueKeysWithValues: zip(outputs, files.dropFirst()))
      do {
        return .photo(try PhotoRunner(plan).run(photo, outputs: files))
      } catch {
        throw MediaFailure(error)
      }
    }
  }

  /// Probes all inputs concurrently, as a client waits for the result.
  private borrowing func probe(
    _ inputs: [(input: InputName, file: OpenFile)], limits: Limits
  ) throws(MediaFailure) -> ProbeReport {
    let results = Channel<ProbeResult>(capacity: max(1, inputs.count))
    for (input, file) in inputs.dropFirst() {
      do {
        try NamedThread(name: "probe \(input.rawValue)") {
          _ = results.put(ProbeResult(input, file, limits: limits))
        }.detach()
      } catch {
        throw MediaFailure(.unavailable, "a thread could not be started: \(error)")
      }
    }
    if let first = inputs.first { _ = results.put(ProbeResult(first.input, first.file, limits: limits)) }
    var byInput: [InputName: ProbeResult] = [:]
    for _ in inputs {
      guard let result = results.take() else { break }
      byInput[result.input] = result
    }
    var report = ProbeReport()
    for (input, _) in inputs {
      switch byInput[input]?.result {
      case .success(.success(let facts)): report.facts[input] = facts
      case .success(.failure(let reason)): report.reasons.append(reason)
      case .failure(let error): throw MediaFailure(error)
      case nil: throw MediaFailure(.internal, "the input \(input.rawValue) was not probed")
      }
    }
    return report
  }

  private borrowing func run(
    _ plan: Plan, mode: ExecutionMode, outputs: [Role: OpenFile]
  ) throws(MediaFailure) -> MediaReply {
    let cancellation = CancellationFlag()
    var next = clock.now
    do {
      let runner = PlanRunner(plan, mode: mode, inputs: inputs, outputs: outputs, cancellation: cancellation)
      let report = try runner.run { fraction in
        guard clock.now >= next else { return }
        next = clock.now + .milliseconds(200)
        send(progress: fraction, cancelling: cancellation)
      }
      return .result(report)
    } catch {
      throw MediaFailure(error)
    }
  }

  // The parent sends nothing during a run; to cancel, it kills this process. A readable socket means that the parent
  // ended.
  private borrowing func send(progress fraction: Double, cancelling cancellation: CancellationFlag) {
    do {
      try socket.send(Envelope<MediaReply>.encode(.progress(fraction)))
      if try socket.waitReadable(milliseconds: 0) { cancellation.cancel() }
    } catch {
      cancellation.cancel()
    }
  }

  private static var descriptorMismatch: MediaFailure {
    MediaFailure(.protocolViolation, "the number of descriptors does not match the request")
  }
}

extension MediaFailure {
  /// The failure that the parent receives for an error of the media work.
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

/// The result of probing one input on a thread.
struct ProbeResult: Sendable {
  let input: InputName
  let result: Result<Result<ClipFacts, Reason>, MediaError>

  /// Probes the input.
  init(_ input: InputName, _ file: OpenFile, limits: Limits) {
    self.input = input
    result = Result { () throws(MediaError) in try Prober(limits: limits).probe(file, as: input) }
  }
}
