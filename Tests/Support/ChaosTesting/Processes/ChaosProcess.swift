import Glibc
import Platform
import Take5Testing

/// A child process of a run, which is stopped, continued and killed here. It ends with the controller.
final class ChaosProcess: Sendable {
  private enum Change: Sendable {
    case stopped
    case ended(ChildProcess.Ending)
  }

  private struct State {
    var stops = 0
    var ending: ChildProcess.Ending?
    var waiters: [(stops: Int, continuation: CheckedContinuation<Bool, Never>)] = []
  }

  /// The process id.
  let process: Int32
  /// The name in reports.
  let name: String
  private let state: Shared

  // The thread that waits for the child may live longer than the `ChaosProcess`.
  private final class Shared: Sendable {
    let state = Locked(State())
  }

  /// Starts a program.
  ///
  /// - Parameters:
  ///   - name: the name in reports.
  ///   - log: a file to which standard output and standard error are appended.
  init(
    _ name: String, path: String, arguments: [String], environment: [String: String] = [:], log: String
  ) throws {
    let number = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
    guard number >= 0 else { throw SystemError(call: "open", subject: log) }
    let file = OpenFile(Descriptor(owning: number))
    let state = Shared()
    // The kernel kills the child when the thread that started it ends: this thread only waits for the child.
    let started = Channel<Result<Int32, SystemError>>(capacity: 1)
    try NamedThread(name: "chaos-process") {
      var configuration = ChildProcess.Configuration(path: path, arguments: arguments)
      // At the end nothing waits.
      configuration.environment = environment.merging(["TAKE5_RELEASED_PAUSE": "0"]) { given, _ in given }
      configuration.directory = "/"
      configuration.descriptors = [nil, file.descriptor.number, file.descriptor.number]
      do throws(SystemError) {
        let child = try ChildProcess(configuration)
        _ = started.put(.success(child.id))
        Self.monitor(child, state)
      } catch {
        _ = started.put(.failure(error))
      }
    }.detach()
    guard let process = started.take() else { throw SystemError(call: "exec", code: ECHILD, subject: path) }
    self.process = try process.get()
    self.name = name
    self.state = state
  }

  deinit { kill(SIGKILL) }

  /// Sends a signal, unless the process has ended.
  func kill(_ signal: Int32) {
    state.state.withLock { if $0.ending == nil { _ = Glibc.kill(process, signal) } }
  }

  /// The number of times that the process was stopped by a signal.
  var stops: Int { state.state.withLock { $0.stops } }

  /// The ending of the process; nil while it runs.
  var ending: ChildProcess.Ending? { state.state.withLock { $0.ending } }

  /// Waits until the process has stopped `times` times; false if it ends before, or `limit` passes.
  func isStopped(times: Int = 1, within limit: Duration? = nil) async -> Bool {
    await wait(stops: times, within: limit)
  }

  /// Waits until the process ends; nil if `limit` passes.
  func end(within limit: Duration) async -> ChildProcess.Ending? {
    _ = await wait(stops: .max, within: limit)
    return ending
  }

  private func wait(stops: Int, within limit: Duration?) async -> Bool {
    let timer = limit.map { limit in
      Task { [state] in
        try? await Task.sleep(for: limit)
        if !Task.isCancelled { Self.wake(state) { _ in true } }
      }
    }
    defer { timer?.cancel() }
    return await withCheckedContinuation { continuation in
      let known = state.state.withLock { state -> Bool? in
        if state.stops >= stops { return true }
        if state.ending != nil { return false }
        state.waiters.append((stops, continuation))
        return nil
      }
      if let known { continuation.resume(returning: known) }
    }
  }

  // Resumes the waiters whose number of stops is reached, those for which `also` returns true, and all after the end.
  private static func wake(_ shared: Shared, also: (Int) -> Bool) {
    let woken = shared.state.withLock { state in
      let stops = state.stops
      let hasEnded = state.ending != nil
      let woken = state.waiters.filter { $0.stops <= stops || hasEnded || also($0.stops) }
      state.waiters.removeAll { $0.stops <= stops || hasEnded || also($0.stops) }
      return woken.map { ($0.continuation, $0.stops <= stops) }
    }
    for (continuation, isStopped) in woken { continuation.resume(returning: isStopped) }
  }

  private static func monitor(_ child: consuming ChildProcess, _ shared: Shared) {
    // Ends: with the child.
    while true {
      var information = siginfo_t()
      guard waitid(P_PID, id_t(child.id), &information, WEXITED | WSTOPPED | WNOWAIT) == 0 else {
        if errno == EINTR { continue }
        break
      }
      guard information.si_code == Int32(CLD_STOPPED) else { break }
      // Consumes the status change, so that the next one is new.
      _ = waitid(P_PID, id_t(child.id), &information, WSTOPPED | WNOHANG)
      shared.state.withLock { $0.stops += 1 }
      wake(shared) { _ in false }
    }
    // `kill` sends no signals once `ending` is set, so that the process id can be reaped.
    let child = child
    shared.state.withLock { $0.ending = .exited(-1) }
    let ending = child.wait()
    shared.state.withLock { $0.ending = ending }
    wake(shared) { _ in false }
  }
}

extension ChaosProcess {
  /// Runs `take5`; returns a violation with the end of its output if it fails.
  ///
  /// - Parameter folder: receives its output.
  static func violations(
    ofRunning arguments: [String], environment: [String: String] = [:], in folder: String,
    within limit: Duration = .seconds(300)
  ) async throws -> [String] {
    let log = "\(folder)/\(arguments[0]).log"
    let process = try ChaosProcess(
      arguments[0], path: ProgramPath.take5, arguments: arguments, environment: environment, log: log)
    let ending = await process.end(within: limit)
    guard ending != .exited(0) else { return [] }
    let output = String(decoding: try Descriptor(reading: log).contents().suffix(600), as: UTF8.self)
    let result = ending.map { "\($0)" } ?? "a timeout"
    return ["'take5 \(arguments.joined(separator: " "))' ended with \(result): \(output)"]
  }
}

/// The paths of the programs of a run, in the build directory of the running program.
enum ProgramPath {
  static let chaos = folder + "/chaos"
  static let take5 = Take5Binary.path

  /// The library for `LD_PRELOAD` that changes the clock of a program; see `CClockSkew`.
  static let clockSkew = folder + "/libClockSkew.so"

  private static let folder = String(take5[..<(take5.lastIndex(of: "/") ?? take5.startIndex)])
}
