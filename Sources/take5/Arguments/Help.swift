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
  /// - Parameter group: the commands whose names begin with this one's.
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

/// Text in lines of a limited width.
enum Paragraph {
  /// Breaks a text between words. A word that is longer than a line has a line to itself.
  static func wrapped(_ text: String, width: Int) -> [String] {
    var lines: [String] = []
    for word in text.split(separator: " ") {
      if let last = lines.last, last.count + 1 + word.count <= width {
        lines[lines.count - 1] = "\(last) \(word)"
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }
}
