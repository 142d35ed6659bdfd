/// The completion of take5 for zsh.
enum ZshCompletion {
  static func script(of table: CompletionTable) -> String {
    let pairs = table.pairs.map { quoted($0.name) }.joined(separator: "|")
    let groups = table.groups.map { group in
      "    \(group)) words_two=(\(table.secondWords(after: group).map(described).joined(separator: " "))) ;;"
    }
    return """
      #compdef take5
      # zsh completion of take5, made by 'take5 completions zsh'.
      _take5() {
        local -a words_one words_two
        local name
        words_one=(
      \(table.firstWords.map { "    \(described($0))" }.joined(separator: "\n"))
        )
        if ((CURRENT == 2)); then
          _describe -t commands command words_one
          return
        fi
        name=$words[2]
        case $name in
      \(groups.joined(separator: "\n"))
        esac
        if ((CURRENT == 3 && $#words_two)) && [[ $words[3] != -* ]]; then
          _describe -t commands command words_two
          return
        fi
        shift words
        ((CURRENT--))
        case "$name $words[2]" in
          (\(pairs))
            name="$name $words[2]"
            shift words
            ((CURRENT--))
            ;;
        esac
        case $name in
      \(table.commands.map(branch).joined(separator: "\n"))
        esac
      }
      if [[ $funcstack[1] == _take5 ]]; then
        _take5 "$@"
      else
        compdef _take5 take5
      fi

      """
  }

  private static func branch(_ command: Subcommand) -> String {
    let specifications = command.allOptions.flatMap { option -> [String] in
      guard let placeholder = option.placeholder else { return ["\(option.name)[\(escaped(option.help))]"] }
      let rest = "[\(escaped(option.help))]:\(escaped(placeholder)):\(action(option.values))"
      return [option.name + "=" + rest] + (option.short.map { [$0 + rest] } ?? [])
    }
    let operands = operands(command).map { [$0] } ?? []
    let lines = (specifications + operands).map { "        \(quoted($0))" }
    return "    \(quoted(command.name)))\n      _arguments -S \\\n\(lines.joined(separator: " \\\n"))\n      ;;"
  }

  private static func operands(_ command: Subcommand) -> String? {
    switch command.operandValues {
    case .file, .folder, .choice: "*:\(escaped(command.operands[0])):\(action(command.operandValues))"
    default: nil
    }
  }

  private static func action(_ values: OptionValues) -> String {
    switch values {
    case .file: "_files"
    case .folder: "_files -/"
    case .choice(let choices): "(\(choices.joined(separator: " ")))"
    case .list(let choices): "_sequence compadd - \(choices.joined(separator: " "))"
    default: " "
    }
  }

  private static func described(_ word: CompletionTable.Word) -> String {
    quoted("\(word.text):\(word.help.replacing(":", with: "\\:"))")
  }

  /// A text inside a specification of _arguments.
  private static func escaped(_ text: String) -> String {
    ["\\", ":", "[", "]"].reduce(text) { $0.replacing($1, with: "\\\($1)") }
  }

  private static func quoted(_ text: String) -> String { "'\(text.replacing("'", with: "'\\''"))'" }
}
