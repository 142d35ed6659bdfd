import Platform

/// One thing that the command line can do.
struct Subcommand: Sendable {
  /// The words after `take5`, `jobs list`.
  let name: String
  /// One sentence.
  let abstract: String
  /// What its operands are called in the help; a name in brackets may be left out.
  let operands: [String]
  let options: [Option]
  /// A command that a reader can copy.
  let example: String
  /// Left out of the help: for the program's own use.
  let isHidden: Bool
  let run: @Sendable (Arguments) async throws -> ExitStatus

  /// A verb that does one thing: a signal that comes before it is done cancels it.
  init(
    _ name: String, abstract: String, operands: [String] = [], options: [Option] = [], example: String,
    run: @escaping @Sendable (Arguments) async throws -> ExitStatus
  ) {
    self.init(
      name: name, abstract: abstract, operands: operands, options: options, example: example, isHidden: false
    ) { arguments in
      try await Interruption.run(until: StopSignals()) { try await run(arguments) }
    }
  }

  /// A verb that goes on until a signal comes, or that has an orderly end of its own for it.
  init(
    _ name: String, abstract: String, operands: [String] = [], options: [Option] = [], example: String,
    untilSignal run: @escaping @Sendable (Arguments, StopSignals) async throws -> ExitStatus
  ) {
    self.init(
      name: name, abstract: abstract, operands: operands, options: options, example: example, isHidden: false
    ) { arguments in
      try await run(arguments, StopSignals())
    }
  }

  /// A verb for the program's own use, which signals end at once.
  init(hidden name: String, abstract: String, run: @escaping @Sendable (Arguments) async throws -> ExitStatus) {
    self.init(
      name: name, abstract: abstract, operands: [], options: [], example: "take5 \(name)", isHidden: true, run: run)
  }

  private init(
    name: String, abstract: String, operands: [String], options: [Option], example: String, isHidden: Bool,
    run: @escaping @Sendable (Arguments) async throws -> ExitStatus
  ) {
    self.name = name
    self.abstract = abstract
    self.operands = operands
    self.options = options
    self.example = example
    self.isHidden = isHidden
    self.run = run
  }

  /// How many operands must be given, and how many may: of one that ends with `…` any number.
  var operandCounts: ClosedRange<Int> {
    let least = operands.count { !$0.hasPrefix("[") }
    return least...(operands.last?.hasSuffix("…") == true ? Int.max : operands.count)
  }
}
