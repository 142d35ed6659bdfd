import Glibc
package import Model
package import Platform

/// A warm media process: the same program, started anew, that sees nothing but the descriptors it is handed.
///
/// A crash, a hang or a memory limit in it costs its caller one answer. It belongs to one thread, which must live as long
/// as it does: when that thread ends, so does the process.
package struct MediaProcess: ~Copyable {
  /// What a media process may use.
  package struct Configuration: Sendable {
    /// The program that carries the hidden verb.
    package var executable: String
    /// Of address space, in bytes.
    package var memoryLimit: UInt64
    /// Of one output, in bytes.
    package var fileSizeLimit: UInt64 = 256 << 20
    /// Whether the processor's vector units are left unused: to see that the outputs are the same.
    package var isPortable = false
    /// Whether it has only the processor time that nobody else wants.
    package var isBackground = false
    /// After so many runs a fresh process takes over.
    package var runsPerProcess: Int

    package init(executable: String = ThisProcess.executable, memoryLimit: UInt64 = 2 << 30, runsPerProcess: Int = 50) {
      self.executable = executable
      self.memoryLimit = memoryLimit
      self.runsPerProcess = runsPerProcess
    }
  }

  /// The hidden verb of the command line that serves as a media process.
  package static let verb = "media-process"
  /// Tells the child to leave the vector units unused.
  static let portableVariable = "TAKE5_PORTABLE"
  /// Where the child finds its socket.
  static let socketNumber: Int32 = 3

  private struct Child: ~Copyable {
    let process: ChildProcess
    let socket: MessageSocket

    consuming func end() -> ChildProcess.Ending {
      process.send(signal: 9)
      return process.wait()
    }
  }

  private let configuration: Configuration
  private var child: Child?
  private var runs = 0
  private var watch = ChildMonitor()
  /// The id of the running process; nil while there is none.
  package private(set) var processID: Int32?

  /// Nothing is started before it is needed.
  package init(_ configuration: Configuration) { self.configuration = configuration }

  /// What the headers of inputs say, and the reasons for which they refuse them.
  ///
  /// - Parameters:
  ///   - inputs: a descriptor each, readable and seekable; they stay the caller's.
  ///   - deadline: the most time it may take.
  package mutating func probe(
    _ inputs: [InputName: Int32], limits: Limits, deadline: Duration, cancellation: CancellationFlag
  ) throws(MediaFailure) -> ProbeReport {
    let names = inputs.keys.sorted { $0.rawValue < $1.rawValue }
    let reply = try exchange(
      .probe(inputs: names, limits: limits), descriptors: names.compactMap { inputs[$0] }, deadline: deadline,
      cancellation: cancellation, progress: { _ in })
    guard case .probed(let report) = reply else { throw unexpected() }
    return report
  }

  /// Carries out a plan.
  ///
  /// - Parameters:
  ///   - inputs: a readable descriptor for each input of the plan; they stay the caller's.
  ///   - outputs: a writable, seekable and readable descriptor for each output of the plan; they stay the caller's.
  ///   - progress: told how far it has come, 0 to 1.
  package mutating func run(
    _ plan: Plan, mode: ExecutionMode, inputs: [InputName: Int32], outputs: [Role: Int32], deadline: Duration,
    cancellation: CancellationFlag, progress: (Double) -> Void
  ) throws(MediaFailure) -> RunReport {
    let inputNames = inputs.keys.sorted { $0.rawValue < $1.rawValue }
    let roles = outputs.keys.sorted { $0.rawValue < $1.rawValue }
    let descriptors = inputNames.compactMap { inputs[$0] } + roles.compactMap { outputs[$0] }
    runs += 1
    let reply = try exchange(
      .run(plan: plan, mode: mode, inputs: inputNames, outputs: roles), descriptors: descriptors, deadline: deadline,
      cancellation: cancellation, progress: progress)
    guard case .result(let report) = reply else { throw unexpected() }
    if runs >= configuration.runsPerProcess { stop() }
    return report
  }

  /// Makes what a plan says of one photo.
  ///
  /// - Parameters:
  ///   - photo: a readable descriptor; it stays the caller's.
  ///   - outputs: a writable, seekable and readable descriptor for each output of the plan; they stay the caller's.
  package mutating func photo(
    _ plan: PhotoPlan, photo: Int32, outputs: [Role: Int32], deadline: Duration, cancellation: CancellationFlag
  ) throws(MediaFailure) -> PhotoReport {
    let roles = outputs.keys.sorted { $0.rawValue < $1.rawValue }
    runs += 1
    let reply = try exchange(
      .photo(plan: plan, outputs: roles), descriptors: [photo] + roles.compactMap { outputs[$0] }, deadline: deadline,
      cancellation: cancellation, progress: { _ in })
    guard case .photo(let report) = reply else { throw unexpected() }
    if runs >= configuration.runsPerProcess { stop() }
    return report
  }

  /// Ends the process, if there is one.
  package mutating func stop() {
    runs = 0
    processID = nil
    guard let child = child.take() else { return }
    _ = child.end()
  }

  private mutating func exchange(
    _ request: MediaRequest, descriptors: [Int32], deadline: Duration, cancellation: CancellationFlag,
    progress: (Double) -> Void
  ) throws(MediaFailure) -> MediaReply {
    let clock = ContinuousClock()
    let end = clock.now + deadline
    try Failpoint.request.around { () throws(MediaFailure) in try send(request, descriptors: descriptors) }
    if let processID { watch.begin(processID) }
    while true {
      if cancellation.isCancelled {
        stop()
        throw MediaFailure(.cancelled, "the run was cancelled")
      }
      let left = clock.now.duration(to: end)
      // Also when the deadline is over: an answer may lie there since this process stood still.
      guard let reply = try receive(within: max(.zero, min(left, .milliseconds(100)))) else {
        guard left > .zero else {
          let failure = processID.map { watch.failure(of: $0, after: deadline) }
          stop()
          throw failure ?? MediaFailure(.deadlineExceeded, "no answer within \(deadline)")
        }
        if let processID { watch.look(at: processID) }
        continue
      }
      switch reply {
      case .progress(let fraction):
        progress(fraction)
        if let processID { watch.look(at: processID) }
      case .failure(let failure): throw failure
      case .probed, .result, .photo: return reply
      }
    }
  }

  // A process that died while it was idle is no fault of this request: it is sent once more, to a fresh one.
  private mutating func send(_ request: MediaRequest, descriptors: [Int32]) throws(MediaFailure) {
    let bytes = try Envelope.encode(request)
    if processID != nil {
      do {
        try withSocket { socket throws(SystemError) in try socket.send(bytes, descriptors: descriptors) }
        return
      } catch {
        stop()
      }
    }
    do {
      let started = try start()
      processID = started.process.id
      child = consume started
      try withSocket { socket throws(SystemError) in try socket.send(bytes, descriptors: descriptors) }
    } catch {
      stop()
      throw MediaFailure(.unavailable, "the media process could not be started: \(error)")
    }
  }

  private mutating func receive(within wait: Duration) throws(MediaFailure) -> MediaReply? {
    let milliseconds = Int32(wait / .milliseconds(1)) + 1
    let message: MessageSocket.Message?
    do {
      guard try waitReadable(milliseconds) else { return nil }
      message = try withSocket { socket throws(SystemError) in try socket.receive() }
    } catch {
      stop()
      throw MediaFailure(.unavailable, "the media process cannot be heard: \(error)")
    }
    guard let message else { throw crash() }
    for number in message.descriptors { _ = Descriptor(owning: number) }
    do {
      return try Envelope<MediaReply>.decode(message.bytes)
    } catch {
      // Whatever else it may say belongs to this request and to no other.
      stop()
      throw error
    }
  }

  private func waitReadable(_ milliseconds: Int32) throws(SystemError) -> Bool {
    try withSocket { socket throws(SystemError) in try socket.waitReadable(milliseconds: milliseconds) }
  }

  private func withSocket<Result>(
    _ body: (borrowing MessageSocket) throws(SystemError) -> Result
  ) throws(SystemError) -> Result {
    switch child {
    case .some(let child): return try body(child.socket)
    case .none: throw SystemError(call: "send", code: ECONNRESET)
    }
  }

  private mutating func crash() -> MediaFailure {
    runs = 0
    processID = nil
    guard let child = child.take() else { return MediaFailure(.unavailable, "the media process is gone") }
    // It closed its socket: if it does not end then, it is ended.
    guard child.process.waitForEnd(atMost: .seconds(2)) else {
      _ = child.end()
      return MediaFailure(.internal, "the media process closed its socket and went on")
    }
    return watch.failure(endedBy: child.end())
  }

  private mutating func unexpected() -> MediaFailure {
    stop()
    return MediaFailure(.protocolViolation, "the media process answered what it was not asked")
  }

  private func start() throws(SystemError) -> Child {
    let pair = try MessageSocket.pair()
    var configuration = ChildProcess.Configuration(path: configuration.executable, arguments: [Self.verb])
    configuration.descriptors = [nil, nil, 2, pair.far.number]
    configuration.directory = "/"
    // Frames come and go by the megabyte: what was freed stays at hand rather than go back to the kernel, which would
    // clear it for the next one (glibc manual, "Memory Allocation Tunables"). The process does not live long.
    configuration.environment = [
      "GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=\(1 << 30):glibc.malloc.trim_threshold=\(1 << 30)",
      // It ends by its signal, at once: nobody is to look into the memory of one that broke.
      "SWIFT_BACKTRACE": "enable=no",
    ]
    if self.configuration.isPortable { configuration.environment[Self.portableVariable] = "1" }
    configuration.addressSpaceLimit = self.configuration.memoryLimit
    configuration.openFilesLimit = 64
    configuration.fileSizeLimit = self.configuration.fileSizeLimit
    // A signal for the whole group, Ctrl-C for one, is the parent's to hear: it decides what becomes of the job.
    configuration.newSession = true
    configuration.isIdle = self.configuration.isBackground
    let process = try Failpoint.spawn.around { () throws(SystemError) in try ChildProcess(configuration) }
    return Child(process: process, socket: pair.keepNear())
  }
}
