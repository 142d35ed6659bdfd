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

  /// Makes a command that the program starts itself; signals have their default effect.
  init(hidden name: String, abstract: String, run: @escaping @Sendable (Arguments) async throws -> ExitStatus) {
    self.init(
      name: name, abstract: abstract, operands: [], options: [], example: "take5 \(name)", isHidden: true,
      reportsConfiguration: false, run: run)
  }

  init(
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

  /// The options that the help lists, `--help` included.
  var allOptions: [Option] { options + [.help] }

  /// Whether the operands are the command line of another program.
  var passesArguments: Bool { operands.first == "PROGRAM" }

  /// The allowed numbers of operands.
  var operandCounts: ClosedRange<Int> {
    let required = operands.count { !$0.hasPrefix("[") }
    return required...(operands.last?.hasSuffix("…") == true ? Int.max : operands.count)
  }
}
