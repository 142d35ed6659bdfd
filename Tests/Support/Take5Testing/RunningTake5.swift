import Glibc
package import Platform

/// A long-running `take5`, a service or a worker, or a program beside it, that a test started and that ends with it.
package actor RunningTake5 {
  private let executor: ThreadExecutor
  private nonisolated let lines = LogLines()
  private var child: ChildProcess?
  /// The process id; nil once it was waited for.
  package private(set) var process: Int32?
  private var heard = 0
  // Standard output, so that nobody who writes to it finds that its reader has gone.
  private var output: OpenFile?

  nonisolated package var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Prepares a process; `start` begins it.
  package init() throws(SystemError) { executor = try ThreadExecutor(name: "take5-running") }

  deinit {
    if let process { kill(process, SIGKILL) }
    executor.stop()
  }

  /// Starts it and returns the first line that it says on standard output; empty if it says none before it ends.
  ///
  /// - Parameter program: the path of another program than `take5`.
  package func start(
    _ words: [String], program: String = Take5Binary.path, environment: [String: String] = [:],
    saysFirstLine: Bool = true
  ) throws -> String {
    let output = try Pipe()
    let errors = try Pipe()
    var configuration = ChildProcess.Configuration(path: program, arguments: words)
    configuration.environment = environment
    configuration.directory = "/"
    configuration.descriptors = [nil, output.writing.number, errors.writing.number]
    let started = try ChildProcess(configuration)
    process = started.id
    child = consume started
    try lines.read(from: errors.keepReading())
    let reading = OpenFile(output.keepReading())
    self.output = reading
    return saysFirstLine ? String(read(reading.descriptor, line: true).filter { !$0.isNewline }) : ""
  }

  /// Sends it a signal.
  package func send(signal: Int32) {
    if let process { kill(process, signal) }
  }

  /// Waits for its end; the exit status, or nil if a signal ended it.
  package func wait() -> Int32? {
    guard let child = child.take() else { return nil }
    let ending = child.wait()
    process = nil
    guard case .exited(let status) = ending else { return nil }
    return status
  }

  /// Waits until it logs a line that contains `text`, after the line that was waited for last; false if it ends first.
  package func waitForLog(_ text: String) async -> Bool {
    guard let place = await lines.wait(for: text, from: heard) else { return false }
    heard = place + 1
    return true
  }

  /// What it has logged so far.
  package nonisolated var log: String { lines.text }

  /// Does something to it as soon as it logs a line that contains `text`, for the first `times` such lines.
  package func whenItLogs(_ text: String, times: Int = 1, _ act: @escaping @Sendable (Int32) -> Void) {
    guard let process else { return }
    lines.on(text, times: times) { act(process) }
  }

  /// The processes that a process has started and that still run, those with `name` among their arguments.
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

  /// The user time of a process in ticks of the clock; nil when it is gone (proc(5), `stat`).
  package static func processorTicks(of process: Int32) -> Int? {
    let fields = content("/proc/\(process)/stat").split(separator: ")").last?.split(separator: " ") ?? []
    return fields.count > 11 ? Int(fields[11]) : nil
  }

  /// The most memory it has had resident, in bytes.
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
