/// The completion of take5 for fish.
enum FishCompletion {
  static func script(of table: CompletionTable) -> String {
    let pairs = table.pairs.map { quoted($0.name) }.joined(separator: " ")
    let first = table.firstWords.map { line("__take5_follows", $0) }
    let second = table.groups.flatMap { group in
      table.secondWords(after: group).map { line("__take5_follows \(group)", $0) }
    }
    return """
      # fish completion of take5, made by 'take5 completions fish'.
      function __take5_follows
          set -l words (commandline -opc)
          test "$words[2..]" = "$argv"
      end
      function __take5_is
          set -l words (commandline -opc)
          set -l name $words[2]
          switch "$words[2..3]"
              case \(pairs)
                  set name "$words[2..3]"
          end
          test "$name" = "$argv"
      end
      complete -c take5 -f
      \((first + second + table.commands.flatMap(lines)).joined(separator: "\n"))

      """
  }

  /// A word that is offered after certain other words.
  private static func line(_ condition: String, _ word: CompletionTable.Word) -> String {
    "complete -c take5 -n \(quoted(condition)) -a \(quoted(word.text)) -d \(quoted(word.help))"
  }

  private static func lines(_ command: Subcommand) -> [String] {
    let condition = "complete -c take5 -n \(quoted("__take5_is \(command.name)"))"
    let options = command.allOptions.map { option in
      let short = option.short.map { " -s \($0.dropFirst())" } ?? ""
      return "\(condition) -l \(option.name.dropFirst(2))\(short)\(value(option)) -d \(quoted(option.help))"
    }
    switch command.operandValues {
    case .file: return options + ["\(condition) -F"]
    case .folder: return options + ["\(condition) -a '(__fish_complete_directories)'"]
    case .choice(let choices): return options + ["\(condition) -a \(quoted(choices.joined(separator: " ")))"]
    default: return options
    }
  }

  private static func value(_ option: Option) -> String {
    switch option.values {
    case .none: ""
    case .file: " -r -F"
    case .folder: " -x -a '(__fish_complete_directories)'"
    case .choice(let choices): " -x -a \(quoted(choices.joined(separator: " ")))"
    case .list(let choices): " -x -a \(quoted("(__fish_append , \(choices.joined(separator: " ")))"))"
    default: " -x"
    }
  }

  private static func quoted(_ text: String) -> String {
    "'\(text.replacing("\\", with: "\\\\").replacing("'", with: "\\'"))'"
  }
}
