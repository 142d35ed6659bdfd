import Platform
import Take5Testing
import Testing

/// A shell with the completion of take5 that `take5 completions` prints.
enum CompletingShell: String, Sendable, CaseIterable {
  case bash
  case zsh
  case fish

  /// What the shell offers at the end of each command line, sorted; descriptions are not part of it.
  ///
  /// - Parameter folder: the current directory, in which the completion is written.
  func candidates(for lines: [String], in folder: String) async throws -> [[String]] {
    let printed = try await Take5Command.run(["completions", rawValue])
    try #require(printed.status == 0, "\(printed)")
    let (script, results) = ("\(folder)/.take5.\(rawValue)", "\(folder)/.results.\(rawValue)")
    try Folder.remove(script)
    try Folder.remove(results)
    try Descriptor(writing: script, replacing: false).write(Array(printed.output.utf8))
    let run = try await Take5Command.run(
      ["--kill-after=1", "120"] + command + [script, results] + lines, program: "/usr/bin/timeout",
      environment: ["PATH": "/usr/bin:/bin", "HOME": folder, "LC_ALL": "C.UTF-8", "TERM": "xterm"], in: folder)
    try #require(run.status == 0 && run.errors.isEmpty, "\(run)")
    let text = String(decoding: try Descriptor(reading: results).contents(), as: UTF8.self)
    var found: [[String]] = [[]]
    for line in text.split(separator: "\n") {
      if line == "%%" { found.append([]) } else { found[found.count - 1].append(String(line)) }
    }
    try #require(found.count == lines.count + 1)
    return found.dropLast().map { $0.sorted() }
  }

  private var command: [String] {
    switch self {
    case .bash: ["bash", "--norc", "--noprofile", "-c", Self.bashProgram, "bash"]
    case .zsh: ["zsh", "-f", "-c", Self.zshProgram, "zsh"]
    case .fish: ["fish", "--no-config", "-c", Self.fishProgram]
    }
  }

  /// Sets the variables that bash sets for a completion function: `=` is a word of its own (COMP_WORDBREAKS).
  private static let bashProgram = """
    source "$1" && complete -p take5 >/dev/null || exit 1
    exec >"$2"
    for line in "${@:3}"; do
      line=${line//=/ = }
      read -ra COMP_WORDS <<<"$line"
      if [[ $line == *' ' ]]; then COMP_WORDS+=(''); fi
      COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
      _take5
      printf '%s\\n' "${COMPREPLY[@]}" %%
    done
    """

  private static let fishProgram = """
    source $argv[1]
    for line in $argv[3..]
        complete -C $line | string replace -r '\\t.*' ''
        echo %%
    end >$argv[2]
    """

  /// Types each line and a tab into an interactive zsh, in which compadd also writes what it adds into a file. The prompts
  /// for the outer shell do not appear in what it types, which the terminal echoes.
  private static let zshProgram = """
    zmodload zsh/zpty
    script=$1 results=$2
    shift 2
    zpty inner zsh -f -i
    zpty -w inner "PS1= PS2= RPS1=; autoload -Uz compinit; compinit -D -u; source $script; results=$results"
    zpty -w inner 'compadd() {
      case " $* " in
        (*" -O "*|*" -A "*|*" -D "*) ;;
        (*) local -a added; builtin compadd -O added "$@"; print -rl -- $added >> $results ;;
      esac
      builtin compadd "$@"
    }
    finish() { zle complete-word; print -r -- %% >> $results; zle .kill-whole-line; print -n "<${all}done>"; }
    zle -N finish; bindkey "^I" finish; LISTMAX=10000; stty columns 300; all=all; print "<${all}ready>"'
    zpty -r inner output '*<allready>*'
    for line; do
      zpty -w -n inner "$line"$'\\t'
      zpty -r inner output '*<alldone>*'
    done
    zpty -d inner
    """
}
