/// The completion of take5 for bash.
enum BashCompletion {
  static func script(of table: CompletionTable) -> String {
    let pairs = table.pairs.map { "'\($0.name)'" }.joined(separator: " | ")
    return """
      # bash completion of take5, made by 'take5 completions bash'.
      _take5() {
        local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
        local command=${COMP_WORDS[1]} options= words= second= value= operand=
        COMPREPLY=()
        # --option=value arrives as three words.
        if [[ $current == = ]]; then
          current=
        elif [[ $previous == = ]]; then
          previous=${COMP_WORDS[COMP_CWORD - 2]}
        fi
        if ((COMP_CWORD == 1)); then
          COMPREPLY=($(compgen -W '\(words(table.firstWords))' -- "$current"))
          return
        fi
        if ((COMP_CWORD == 2)); then
          case $command in
      \(table.groups.map { "      \($0)) second='\(words(table.secondWords(after: $0)))' ;;" }.joined(separator: "\n"))
          esac
        else
          case "$command ${COMP_WORDS[2]}" in
            \(pairs)) command="$command ${COMP_WORDS[2]}" ;;
          esac
        fi
        case $command in
      \(table.commands.map(branch).joined(separator: "\n"))
        esac
        if [[ -z $value ]]; then
          if [[ $current == -* ]]; then
            value=words words=$options
          elif [[ -n $second ]]; then
            value=words words=$second
          else
            value=${operand:-words}
            if [[ -z $operand ]]; then words=$options; fi
          fi
        fi
        case $value in
          words) COMPREPLY=($(compgen -W "$words" -- "$current")) ;;
          list)
            local before=
            if [[ $current == *,* ]]; then before=${current%,*},; fi
            COMPREPLY=($(compgen -P "$before" -W "$words" -- "${current##*,}"))
            ;;
          file | folder)
            compopt -o filenames 2>/dev/null
            local kind=-f
            if [[ $value == folder ]]; then kind=-d; fi
            mapfile -t COMPREPLY < <(compgen "$kind" -- "$current")
            ;;
        esac
      }
      complete -F _take5 take5

      """
  }

  private static func words(_ words: [CompletionTable.Word]) -> String { words.map(\.text).joined(separator: " ") }

  /// The branch of a command: its options, what follows each of them, and its operands.
  private static func branch(_ command: Subcommand) -> String {
    var lines = [
      "    '\(command.name)')", "      options='\(command.allOptions.map(\.name).joined(separator: " "))'",
    ]
    let operand = assignment(command.operandValues, to: "operand")
    if !operand.isEmpty { lines.append("      \(operand)") }
    // Options with the same values have one line.
    var groups: [(assignment: String, names: [String])] = []
    for option in command.options where option.placeholder != nil {
      let names = [option.short, option.name].compactMap(\.self)
      let text = assignment(option.values, to: "value")
      if let index = groups.firstIndex(where: { $0.assignment == text }) {
        groups[index].names += names
      } else {
        groups.append((text, names))
      }
    }
    if !groups.isEmpty {
      lines.append("      case $previous in")
      for (assignment, names) in groups { lines.append("        \(names.joined(separator: " | "))) \(assignment) ;;") }
      lines.append("      esac")
    }
    return (lines + ["      ;;"]).joined(separator: "\n")
  }

  private static func assignment(_ values: OptionValues, to name: String) -> String {
    switch values {
    case .file: "\(name)=file"
    case .folder: "\(name)=folder"
    case .choice(let choices): "\(name)=words words='\(choices.joined(separator: " "))'"
    case .list(let choices): "\(name)=list words='\(choices.joined(separator: " "))'"
    default: name == "value" ? "value=none" : ""
    }
  }
}
