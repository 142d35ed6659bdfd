import Glibc
import Media
package import Model
package import Platform

/// The parent's side of a media process: a child that runs the same program, is reused for several requests and opens
/// no files, but receives descriptors.
///
/// A crash, a hang or a memory limit in the child fails only the current request. The child receives a signal when the
/// thread that started it ends: that thread must live as long as the child.
package struct MediaProcess: ~Copyable {
  /// The limits of a media process.
  package struct Configuration: Sendable {
    /// The program that has the command `media-process`.
    package var executable: String
    /// The limit of the address space, in bytes.
    package var memoryLimit: UInt64
    /// The limit of one output file, in bytes.
    package var fileSizeLimit: UInt64 = 256 << 20
    /// Whether SIMD code is disabled, to compare the outputs.
    package var isPortable = false
    /// Whether it gets only processor time that no other process uses.
    package var isBackground = false
    /// The number of runs after which a new process replaces it.
    package var runsPerProcess: Int

    package init(executable: String = ThisProcess.executable, memoryLimit: UInt64 = 2 << 30, runsPerProcess: Int = 50) {
      self.executable = executable
      self.memoryLimit = memoryLimit
      self.runsPerProcess = runsPerProcess
    }
  }

  /// The hidden command of the command line that runs as a media process.
  package static let command = "media-process"
  /// The environment variable that disables SIMD code in the child.
  static let portableVariable = "TAKE5_PORTABLE"
  /// The descriptor of the child's socket.
  static let socketNumber: Int32 = 3

  private struct Child: ~Copyable {
    let process: ChildProcess
    let socket: MessageSocket

    consuming func terminate() -> ChildProcess.Ending {
      process.send(signal: 9)
      return process.wait()
    }
  }

  private let configuration: Configuration
  private var child: Child?
  private var runs = 0
  private var monitor = ChildMonitor()
  /// The id of the running process; nil while there is none.
  package private(set) var processID: Int32?

  /// Starts no process before the first request.
  package init(_ configuration: Configuration) { self.configuration = configuration }

  /// Probes the inputs: returns their facts, or the reasons for which they are refused.
  ///
  /// - Parameters:
  ///   - inputs: a readable, seekable descriptor for each input, owned by the caller.
  ///   - deadline: the maximum duration.
  package mutating func probe(
    _ inputs: [InputName: Int32], limits: Limits, deadline: Duration, cancellation: CancellationFlag
  ) throws(MediaFailure) -> ProbeReport {
    let names = inputs.keys.sorted { $0.rawValue < $1.rawValue }
    let reply = try exchange(
      .probe(inputs: names, limits: limits), descriptors: names.compactMap { inputs[$0] }, deadline: deadline,
      cancellation: cancellation, progress: { _ in })
    guard case .probed(let report) = reply else { throw unexpectedReply() }
    return report
  }

  /// Runs a plan.
  ///
  /// - Parameters:
  ///   - inputs: a readable descriptor for each input of the plan, owned by the caller.
  ///   - outputs: a writable, seekable and readable descriptor for each output of the plan, owned by the caller.
  ///   - progress: called with the completed fraction, 0 to 1.
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
    guard case .result(let report) = reply else { throw unexpectedReply() }
    if runs >= configuration.runsPerProcess { stop() }
    return report
  }

  /// Runs a plan for one photo.
  ///
  /// - Parameters:
  ///   - photo: a readable descriptor, owned by the caller.
  ///   - outputs: a writable, seekable and readable descriptor for each output of the plan, owned by the caller.
  package mutating func photo(
    _ plan: PhotoPlan, photo: Int32, outputs: [Role: Int32], deadline: Duration, cancellation: CancellationFlag
  ) throws(MediaFailure) -> PhotoReport {
    let roles = outputs.keys.sorted { $0.rawValue < $1.rawValue }
    runs += 1
    let reply = try exchange(
      .photo(plan: plan, outputs: roles), descriptors: [photo] + roles.compactMap { outputs[$0] }, deadline: deadline,
      cancellation: cancellation, progress: { _ in })
    guard case .photo(let report) = reply else { throw unexpectedReply() }
    if runs >= configuration.runsPerProcess { stop() }
    return report
  }

  /// Ends the process, if there is one.
  package mutating func stop() {
    runs = 0
    processID = nil
    guard let child = child.take() else { return }
    _ = child.terminate()
  }

  private mutating func exchange(
    _ request: MediaRequest, descriptors: [Int32], deadline: Duration, cancellation: CancellationFlag,
    progress: (Double) -> Void
  ) throws(MediaFailure) -> MediaReply {
    let clock = ContinuousClock()
    let end = clock.now + deadline
    try Failpoint.request.around { () throws(MediaFailure) in try send(request, descriptors: descriptors) }
    if let processID { monitor.requestSent(to: processID) }
    while true {
      if cancellation.isCancelled {
        stop()
        throw MediaFailure(.cancelled, "the run was cancelled")
      }
      let remaining = clock.now.duration(to: end)
      // Also after the deadline: a reply may be waiting if this process was stopped.
      guard let reply = try receive(within: max(.zero, min(remaining, .milliseconds(100)))) else {
        guard remaining > .zero else {
          let failure = processID.map { monitor.failure(of: $0, after: deadline) }
          stop()
          throw failure ?? MediaFailure(.deadlineExceeded, "no reply within \(deadline)")
        }
        if let processID { monitor.observe(processID) }
        continue
      }
      switch reply {
      case .progress(let fraction):
        progress(fraction)
        if let processID { monitor.observe(processID) }
      case .failure(let failure): throw failure
      case .probed, .result, .photo: return reply
      }
    }
  }

  // The request did not cause the end of a process that ended while idle: it is sent once more, to a new process.
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

  private mutating func receive(within timeout: Duration) throws(MediaFailure) -> MediaReply? {
    let milliseconds = Int32(timeout / .milliseconds(1)) + 1
    let message: MessageSocket.Message?
    do {
      guard try waitReadable(milliseconds) else { return nil }
      message = try withSocket { socket throws(SystemError) in try socket.receive() }
    } catch {
      stop()
      throw MediaFailure(.unavailable, "the reply of the media process cannot be received: \(error)")
    }
    guard let message else { throw failureAfterEnd() }
    for number in message.descriptors { _ = Descriptor(owning: number) }
    do {
      return try Envelope<MediaReply>.decode(message.bytes)
    } catch {
      // Later messages of this process would belong to this request: it is not reused.
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

  private mutating func failureAfterEnd() -> MediaFailure {
    runs = 0
    processID = nil
    guard let child = child.take() else { return MediaFailure(.unavailable, "the media process has ended") }
    // The process closed its socket. If it does not exit, it is killed.
    guard child.process.waitForEnd(atMost: .seconds(2)) else {
      _ = child.terminate()
      return MediaFailure(.internal, "the media process closed its socket and kept running")
    }
    return monitor.failure(endedBy: child.terminate())
  }

  private mutating func unexpectedReply() -> MediaFailure {
    stop()
    return MediaFailure(.protocolViolation, "the media process sent an unexpected reply")
  }

  private func start() throws(SystemError) -> Child {
    let pair = try MessageSocket.pair()
    var configuration = ChildProcess.Configuration(path: configuration.executable, arguments: [MediaProcess.command])
    configuration.descriptors = [nil, nil, 2, pair.far.number]
    configuration.directory = "/"
    // Frames are allocated and freed by the megabyte: freed memory is kept in the process, as the kernel would clear it
    // for every new frame (glibc manual, "Memory Allocation Tunables"). The process is short-lived.
    configuration.environment = [
      "GLIBC_TUNABLES": "glibc.malloc.mmap_threshold=\(1 << 30):glibc.malloc.trim_threshold=\(1 << 30)",
      // A crash ends the process at once by its signal, without a backtrace.
      "SWIFT_BACKTRACE": "enable=no",
    ]
    if self.configuration.isPortable { configuration.environment[Self.portableVariable] = "1" }
    configuration.addressSpaceLimit = self.configuration.memoryLimit
    configuration.openFilesLimit = 64
    configuration.fileSizeLimit = self.configuration.fileSizeLimit
    // In a session of its own the process does not receive signals to the parent's group, such as SIGINT by Ctrl-C: the
    // parent decides whether the job ends.
    configuration.newSession = true
    configuration.isIdle = self.configuration.isBackground
    let process = try Failpoint.spawn.around { () throws(SystemError) in try ChildProcess(configuration) }
    return Child(process: process, socket: pair.keepNear())
  }
}

extension Failpoint {
  static let spawn = Failpoint("media.spawn")
  static let request = Failpoint("media.request")

  /// The failpoints of media processes.
  package static let mediaProcesses = [spawn, request]
}

/// The versions of the media libraries at run time, by library; they are part of the recipe.
package enum LibraryVersions {
  package static var current: [String: String] { MediaLibraries.versions }
}
