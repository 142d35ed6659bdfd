/// One thing that the command line can do.
struct Verb: Sendable {
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

  init(
    _ name: String, abstract: String, operands: [String] = [], options: [Option] = [], example: String,
    isHidden: Bool = false, run: @escaping @Sendable (Arguments) async throws -> ExitStatus
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
