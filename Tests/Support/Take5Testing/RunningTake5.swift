import Glibc
package import Platform

/// A long-running process of a test: a `take5` service or worker, or another program. It ends with the test.
package actor RunningTake5 {
  private let executor: ThreadExecutor
  private nonisolated let lines = LogLines()
  private var child: ChildProcess?
  /// The process id; nil once it was waited for.
  package private(set) var process: Int32?
  /// The index of the first line that `waitForLog` has not passed.
  private var nextLine = 0
  // The reading end of standard output stays open, so that writes to it do not fail.
  private var output: OpenFile?

  nonisolated package var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Creates an object without a process; `start` starts the process.
  package init() throws(SystemError) { executor = try ThreadExecutor(name: "take5-running") }

  deinit {
    if let process { kill(process, SIGKILL) }
    executor.stop()
  }

  /// Starts the process and returns its first line of standard output; empty if it exits before.
  ///
  /// - Parameters:
  ///   - program: the path of another program than `take5`.
  ///   - text: what a line contains for which `act` is called, as by `whenItLogs`, also if it is the first line.
  package func start(
    _ arguments: [String], program: String = Take5Binary.path, environment: [String: String] = [:],
    printsFirstLine: Bool = true, whenItLogs text: String? = nil, times: Int = 1,
    _ act: @escaping @Sendable (Int32) -> Void = { _ in }
  ) throws -> String {
    let output = try Pipe()
    let errors = try Pipe()
    var configuration = ChildProcess.Configuration(path: program, arguments: arguments)
    // What a test deletes goes at once.
    configuration.environment = environment.merging(["TAKE5_RELEASED_PAUSE": "0"]) { given, _ in given }
    configuration.directory = "/"
    configuration.descriptors = [nil, output.writing.number, errors.writing.number]
    let started = try ChildProcess(configuration)
    process = started.id
    child = consume started
    if let text { whenItLogs(text, times: times, act) }
    try lines.read(from: errors.takeReadingEnd())
    let reading = OpenFile(output.takeReadingEnd())
    self.output = reading
    return printsFirstLine ? String(read(reading.descriptor, line: true).filter { !$0.isNewline }) : ""
  }

  /// Sends a signal to the process.
  package func send(signal: Int32) {
    if let process { kill(process, signal) }
  }

  /// Waits until the process exits and its log is read; returns its exit status, or nil if a signal ended it.
  package func wait() async -> Int32? {
    guard let child = child.take() else { return nil }
    let ending = child.wait()
    process = nil
    await lines.waitForEnd()
    guard case .exited(let status) = ending else { return nil }
    return status
  }

  /// Waits for a log line that contains `text`, after the line of the last call; false if the process ends first.
  package func waitForLog(_ text: String) async -> Bool {
    guard let index = await lines.wait(for: text, from: nextLine) else { return false }
    nextLine = index + 1
    return true
  }

  /// The log lines so far.
  package nonisolated var log: String { lines.text }

  /// Calls `act` with the process id when the process logs a line that contains `text`, for the first `times` such
  /// lines.
  package func whenItLogs(_ text: String, times: Int = 1, _ act: @escaping @Sendable (Int32) -> Void) {
    guard let process else { return }
    lines.on(text, times: times) { act(process) }
  }

  /// The running child processes of a process that have `name` among their arguments.
  package static func children(of process: Int32, named name: String) -> [Int32] {
    guard let folder = opendir("/proc/\(process)/task") else { return [] }
    defer { closedir(folder) }
    var found: [Int32] = []
    while let entry = readdir(folder) {
      let thread = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      let text = Self.content("/proc/\(process)/task/\(thread)/children")
      found += text.split(separator: " ").compactMap { Int32($0) }
    }
    return found.filter { Self.content("/proc/\($0)/cmdline").split(separator: "\0").contains { $0 == name } }
  }

  /// The user time of a process in clock ticks; nil if it has exited (proc_pid_stat(5)).
  package static func processorTicks(of process: Int32) -> Int? {
    let fields = content("/proc/\(process)/stat").split(separator: ")").last?.split(separator: " ") ?? []
    return fields.count > 11 ? Int(fields[11]) : nil
  }

  /// The peak resident set size of the process, in bytes.
  package func peakMemory() -> Int? {
    guard let process else { return nil }
    let line = Self.content("/proc/\(process)/status").split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
    return line.flatMap { Int($0.filter(\.isNumber)) }.map { $0 << 10 }
  }

  private static func content(_ path: String) -> String {
    guard let file = try? Descriptor(reading: path) else { return "" }
    return (try? file.bytes(count: 1 << 16, at: 0)).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }
}
