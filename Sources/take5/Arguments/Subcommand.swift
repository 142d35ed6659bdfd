import Glibc
import Platform

/// One command of the program, such as `jobs list`.
struct Subcommand: Sendable {
  /// The arguments that name the command, such as `jobs list`.
  let name: String
  /// One sentence for the list of commands.
  let abstract: String
  /// The names of the operands in the help. A name in brackets is optional; `…` at the end allows any number.
  let operands: [String]
  let options: [Option]
  /// A complete command line.
  let example: String
  /// Whether the help omits the command, which the program starts itself.
  let isHidden: Bool
  /// Whether the command reports what is wrong with the configuration file; other commands do not start then.
  let reportsConfiguration: Bool
  let run: @Sendable (Arguments) async throws -> ExitStatus

  /// Makes a command that finishes on its own; a signal cancels it.
  init(
    _ name: String, abstract: String, operands: [String] = [], options: [Option] = [], example: String,
    reportsConfiguration: Bool = false, run: @escaping @Sendable (Arguments) async throws -> ExitStatus
  ) {
    self.init(
      name: name, abstract: abstract, operands: operands, options: options, example: example, isHidden: false,
      reportsConfiguration: reportsConfiguration
    ) { arguments in
      try await Interruption.run(until: StopSignals()) { try await run(arguments) }
    }
  }

  /// Makes a command that handles signals itself: it runs until one arrives, or shuts down in order when one does.
  init(
    _ name: String, abstract: String, operands: [String] = [], options: [Option] = [], example: String,
    untilSignal run: @escaping @Sendable (Arguments, StopSignals) async throws -> ExitStatus
  ) {
    self.init(
      name: name, abstract: abstract, operands: operands, options: options, example: example, isHidden: false,
      reportsConfiguration: false
    ) { arguments in
      try await run(arguments, StopSignals())
    }
  }

  /// Makes a service, which runs until a signal arrives.
  init(
    _ name: String, abstract: String, options: [Option], example: String,
    service run: @escaping @Sendable (Arguments, ServiceProcess) async throws -> ExitStatus
  ) {
    self.init(
      name: name, abstract: abstract, operands: [], options: options, example: example, isHidden: false,
      reportsConfiguration: false
    ) { arguments in
      try await ServiceProcess.run(arguments) { try await run(arguments, $0) }
    }
  }

  /// Makes a command that the program starts itself; signals have their default effect.
  init(hidden name: String, abstract: String, run: @escaping @Sendable (Arguments) async throws -> ExitStatus) {
    self.init(
      name: name, abstract: abstract, operands: [], options: [], example: "take5 \(name)", isHidden: true,
      reportsConfiguration: false, run: run)
  }

  private init(
    name: String, abstract: String, operands: [String], options: [Option], example: String, isHidden: Bool,
    reportsConfiguration: Bool, run: @escaping @Sendable (Arguments) async throws -> ExitStatus
  ) {
    self.name = name
    self.abstract = abstract
    self.operands = operands
    let isConfigurable = options.contains { $0.key != nil } && !options.contains(.configuration)
    self.options = options + (isConfigurable ? [.configuration] : [])
    self.example = example
    self.isHidden = isHidden
    self.reportsConfiguration = reportsConfiguration
    self.run = run
  }

  /// The options that the help lists: with that of the help itself.
  var allOptions: [Option] { options + [.help] }

  /// Whether the command opens a store, and therefore needs the options of the service.
  var opensStore: Bool { options.contains(.data) }

  /// Whether the operands are the command line of another program.
  var passesArguments: Bool { operands.first == "PROGRAM" }

  /// The allowed numbers of operands.
  var operandCounts: ClosedRange<Int> {
    let required = operands.count { !$0.hasPrefix("[") }
    return required...(operands.last?.hasSuffix("…") == true ? Int.max : operands.count)
  }
}

/// The effect of a signal on a running command.
enum Interruption {
  /// The time for an orderly end. A command that is killed later leaves no files behind either.
  private static let timeout = Duration.seconds(5)

  /// Runs `work`. The first signal cancels it; any error after that becomes `.interrupted`, unless it says what the command leaves
  /// behind.
  static func run(
    until signals: StopSignals, _ work: @escaping @Sendable () async throws -> ExitStatus
  ) async throws -> ExitStatus {
    let task = Task { try await work() }
    let isInterrupted = CancellationFlag()
    let monitor = Task {
      await signals.wait()
      guard !Task.isCancelled else { return }
      isInterrupted.cancel()
      task.cancel()
      try? await Task.sleep(for: timeout)
      guard !Task.isCancelled else { return }
      for line in CommandFailure.interrupted.lines { Console.note(line) }
      exit(ExitStatus.interrupted.rawValue)
    }
    defer { monitor.cancel() }
    do {
      return try await task.value
    } catch {
      guard isInterrupted.isCancelled else { throw error }
      if let failure = error as? CommandFailure, failure.status == .interrupted { throw failure }
      throw CommandFailure.interrupted
    }
  }
}

/// The texts of `--help`.
enum Help {
  static let abstract =
    "composes the two clips of a moment into one video, as a service over HTTP or on the command line."

  /// The help of the program: a list of its commands.
  static func text(of commands: [Subcommand]) -> String {
    """
    take5: \(abstract)

    usage: take5 COMMAND [OPTIONS]

    \(lines(of: commands.filter { !$0.isHidden }))

    'take5 COMMAND --help' describes a command, or a group of commands such as 'jobs'. Exit status:
    \(Paragraph.wrapped(statuses, width: 110).joined(separator: "\n"))

    """
  }

  /// The help of a group of commands: a list of them.
  static func text(of group: [Subcommand], named name: String) -> String {
    """
    usage: take5 \(name) COMMAND [OPTIONS]

    \(lines(of: group))

    'take5 \(name) COMMAND --help' describes a command.

    """
  }

  private static func lines(of commands: [Subcommand]) -> String {
    let width = (commands.map { synopsis($0).count }.max() ?? 0) + 2
    return commands.map { command in
      let synopsis = synopsis(command)
      return "  \(synopsis)\(String(repeating: " ", count: width - synopsis.count))\(command.abstract)"
    }.joined(separator: "\n")
  }

  private static let statuses =
    ExitStatus.meanings.map { "\($0.rawValue) \($1)" }.joined(separator: ", ") + "."

  /// The help of one command.
  ///
  /// - Parameter group: the commands whose names begin with that of this one.
  static func text(of command: Subcommand, among group: [Subcommand] = []) -> String {
    var text = "\(command.abstract)\n\nusage: take5 \(synopsis(command)) [OPTIONS]\n"
    let all = command.allOptions.map { option -> (String, String) in
      let short = option.short.map { "\($0), " } ?? ""
      let syntax = short + option.name + (option.placeholder.map { " \($0)" } ?? "")
      let notes = [option.variable.map { "$\($0)" }, option.defaultValue.map { "default \($0)" }].compactMap(\.self)
      return (syntax, option.help + (notes.isEmpty ? "" : " (\(notes.joined(separator: "; ")))"))
    }
    let width = (all.map(\.0.count).max() ?? 0) + 2
    text += "\n"
    for (syntax, help) in all {
      text += "  \(syntax)\(String(repeating: " ", count: width - syntax.count))\(help)\n"
    }
    if !group.isEmpty { text += "\n\(lines(of: group))\n" }
    return text + "\nexample: \(command.example)\n"
  }

  /// The words of a command line.
  static func synopsis(_ command: Subcommand) -> String {
    ([command.name] + command.operands).joined(separator: " ")
  }
}
