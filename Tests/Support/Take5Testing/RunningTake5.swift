import Glibc
package import Platform

/// A long-running `take5`, a service or a worker, that a test started and that ends with it.
package actor RunningTake5 {
  private let executor: ThreadExecutor
  private let errors: OpenFile
  private var child: ChildProcess?
  /// The process id; nil once it was waited for.
  package private(set) var process: Int32?

  nonisolated package var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  /// Prepares a process; `start` begins it.
  package init() throws(SystemError) {
    executor = try ThreadExecutor(name: "take5-running")
    errors = OpenFile(try Descriptor(unnamedIn: "/tmp"))
  }

  deinit {
    if let process { kill(process, SIGKILL) }
    executor.stop()
  }

  /// Starts it and returns the first line that it says on standard output; empty if it says none.
  package func start(_ words: [String], environment: [String: String] = [:]) throws -> String {
    let output = try Pipe()
    var configuration = ChildProcess.Configuration(path: Take5Binary.path, arguments: words)
    configuration.environment = environment
    configuration.directory = "/"
    configuration.descriptors = [nil, output.writing.number, errors.descriptor.number]
    let started = try ChildProcess(configuration)
    process = started.id
    child = consume started
    return String(read(output.keepReading(), line: true).dropLast(while: \.isNewline))
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

  /// What it has said on standard error so far.
  nonisolated package func log() throws -> String { String(decoding: try errors.descriptor.contents(), as: UTF8.self) }
}

extension String {
  fileprivate func dropLast(while predicate: (Character) -> Bool) -> Substring {
    var rest = self[...]
    while let last = rest.last, predicate(last) { rest = rest.dropLast() }
    return rest
  }
}
