/// What a shell offers while a command line of take5 is typed: the same for every shell.
struct CompletionTable: Sendable {
  struct Word: Sendable, Hashable {
    let text: String
    let help: String
  }

  let commands: [Subcommand]

  init(of commands: [Subcommand]) { self.commands = commands.filter { !$0.isHidden } }

  /// The first words: the commands, and the options of the program.
  var firstWords: [Word] {
    var seen: Set<String> = []
    let words = commands.compactMap { command -> Word? in
      let first = command.words[0]
      guard seen.insert(first).inserted else { return nil }
      let own = commands.first { $0.name == first }
      let group = secondWords(after: first).map(\.text).joined(separator: ", ")
      return Word(text: first, help: own?.abstract ?? "\(first) \(group)")
    }
    return words + [
      Word(text: "--help", help: "List the commands."), Word(text: "--version", help: "Print the version of take5."),
    ]
  }

  /// The second words after a first one: empty unless several commands begin with it.
  func secondWords(after first: String) -> [Word] {
    commands.filter { $0.words.count == 2 && $0.words[0] == first }.map { Word(text: $0.words[1], help: $0.abstract) }
  }

  /// The first words that second ones follow.
  var groups: [String] { firstWords.map(\.text).filter { !secondWords(after: $0).isEmpty } }

  /// The commands of two words.
  var pairs: [Subcommand] { commands.filter { $0.words.count == 2 } }
}

extension Subcommand {
  /// The words of the name.
  var words: [String] { name.split(separator: " ").map(String.init) }

  /// The values of the operands, decided by the first: files, or fixed words; or the last, if it is a folder.
  var operandValues: OptionValues {
    guard let first = operands.first else { return .none }
    if operands.last == "DIR" { return .folder }
    let name = first.filter { !"[]…".contains($0) }
    return ["FRONT", "BACK", "CLIP", "FILE"].contains(name) || operands.last == "FILE"
      ? .file : OptionValues(placeholder: name)
  }
}
