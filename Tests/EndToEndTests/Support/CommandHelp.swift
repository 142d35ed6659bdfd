import Take5Testing
import Testing

/// A command as its `--help` describes it.
struct CommandHelp: Sendable {
  struct Option: Sendable, Hashable {
    let name: String
    /// Nil for a switch.
    let placeholder: String?
    let variable: String?
  }

  let name: String
  /// Without `--help`, which every command has.
  let options: [Option]

  var words: [String] { name.split(separator: " ").map(String.init) }

  /// The commands that `take5 --help` lists. Operands are in upper case, or have brackets or bars; descriptions start with
  /// an upper-case letter.
  static func all() async throws -> [CommandHelp] {
    let help = try await Take5Command.run(["--help"])
    try #require(help.status == 0)
    var commands: [CommandHelp] = []
    for line in help.output.split(separator: "\n") where line.hasPrefix("  ") {
      let name = line.split(separator: " ").prefix { $0.allSatisfy { $0.isLowercase || $0 == "-" } }
      commands.append(try await CommandHelp(name.joined(separator: " ")))
    }
    return commands
  }

  private init(_ name: String) async throws {
    self.name = name
    let help = try await Take5Command.run(name.split(separator: " ").map(String.init) + ["--help"])
    try #require(help.status == 0)
    options = help.output.split(separator: "\n").filter { $0.hasPrefix("  -") }.compactMap { line in
      // The description follows two blanks.
      let end = line.dropFirst(2).firstRange(of: "  ")?.lowerBound ?? line.endIndex
      let syntax = line[..<end].split(separator: " ").drop { !$0.hasPrefix("--") }
      guard let name = syntax.first, name != "--help" else { return nil }
      let variable = line.split(separator: "($").dropFirst().last?.prefix { $0 != ")" && $0 != ";" }
      return Option(
        name: String(name), placeholder: syntax.dropFirst().first.map(String.init), variable: variable.map(String.init))
    }
  }
}
