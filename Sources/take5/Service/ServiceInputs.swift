import Kit
import Rooms

/// What a service reads when it starts, before it opens the database or the blobs: its options, and the files that they name.
///
/// `take5 config` and `take5 doctor` read the same, and find its faults before a restart.
struct ServiceInputs: Sendable {
  let exposure: ServiceExposure
  let configuration: ServiceConfiguration
  let definitions: SubmissionDefinitions
  let push: PushOptions.Files

  /// Throws all that is wrong.
  init(_ arguments: Arguments) throws(InvalidConfiguration) {
    var reader = try InputReader(arguments)
    let exposure = reader.read { try ServiceExposure(arguments) }
    reader.check { _ = try ServiceConfiguration.origins(arguments) }
    reader.check { _ = try APIKey.read(arguments) }
    reader.check { try IdentityOptions(arguments).checkFiles() }
    let definitions = reader.read { try ServedDefinitions.read(arguments) }
    let push = reader.readShared(arguments)
    guard reader.failures.isEmpty, let exposure, let definitions, let push,
      let configuration = reader.read({ try ServiceConfiguration(serving: arguments, at: exposure) })
    else { throw InvalidConfiguration(failures: reader.failures) }
    self.exposure = exposure
    self.configuration = configuration
    self.definitions = definitions
    self.push = push
  }
}

extension ServiceConfiguration {
  /// All faults of the options of a service and of the files that they name.
  static func failures(_ arguments: Arguments, _ keys: ConfigurationKeys, options: [Option]) -> [CommandFailure] {
    var failures = arguments.file.map { keys.failures(in: $0, arguments, options: options) } ?? []
    for option in options {
      if case .file = arguments.setting(option.name)?.source { continue }
      if let failure = arguments.failure(of: option.name) { failures.append(failure) }
    }
    // What several options and their files mean has no other cause if one of them is wrong already.
    guard failures.isEmpty else { return failures }
    do throws(InvalidConfiguration) { _ = try ServiceInputs(arguments) } catch { failures = error.failures }
    return failures
  }
}

/// What a worker reads when it starts.
struct WorkerInputs: Sendable {
  let configuration: ServiceConfiguration
  let push: PushOptions.Files

  /// Throws all that is wrong.
  init(_ arguments: Arguments) throws(InvalidConfiguration) {
    var reader = try InputReader(arguments)
    let push = reader.readShared(arguments)
    let configuration = reader.read { try ServiceConfiguration(arguments.command.options, arguments) }
    guard reader.failures.isEmpty, let push, let configuration else {
      throw InvalidConfiguration(failures: reader.failures)
    }
    self.configuration = configuration
    self.push = push
  }
}

/// Reads one part of a configuration after the other, and keeps what is wrong with each.
struct InputReader {
  private(set) var failures: [CommandFailure] = []

  init() {}

  /// Throws what is wrong with single values: what several of them mean together has no other cause then.
  init(_ arguments: Arguments) throws(InvalidConfiguration) {
    failures = arguments.command.options.compactMap { arguments.failure(of: $0.name) }
    guard failures.isEmpty else { throw InvalidConfiguration(failures: failures) }
  }

  /// Reads a part; nil if something is wrong with it.
  mutating func read<Value>(_ body: () throws -> Value) -> Value? {
    do {
      return try body()
    } catch let invalid as InvalidConfiguration {
      failures += invalid.failures
    } catch {
      failures.append(CommandFailure(error))
    }
    return nil
  }

  /// Checks a part that nothing is kept of.
  mutating func check(_ body: () throws -> Void) { _ = read(body) }

  /// Reads what a service and a worker have in common.
  fileprivate mutating func readShared(_ arguments: Arguments) -> PushOptions.Files? {
    check { _ = try DatabaseAddress(arguments) }
    check { _ = try BlobOptions.place(arguments.value(BlobOptions.blobs.name), arguments) }
    if let next = arguments.value(BlobOptions.next.name) { check { _ = try BlobOptions.place(next, arguments) } }
    return read { try PushOptions.files(arguments) }
  }
}
