extension Subcommand {
  static let completions = Subcommand(
    "completions", abstract: "Print the completion of a shell for the commands and options of take5.",
    operands: ["bash|zsh|fish"], example: "take5 completions bash"
  ) { arguments in
    let table = CompletionTable(of: Subcommand.all)
    switch arguments.operands[0] {
    case "bash": try Console.write(BashCompletion.script(of: table))
    case "zsh": try Console.write(ZshCompletion.script(of: table))
    case "fish": try Console.write(FishCompletion.script(of: table))
    default: throw unknownOperand(arguments)
    }
    return .success
  }

  static let manual = Subcommand(
    "manual", abstract: "Print a manual page in the format of man(7), take5(1) or take5.conf(5).",
    operands: ["[take5|take5.conf]"], example: "take5 manual take5.conf | man -l -"
  ) { arguments in
    switch arguments.operands.first ?? "take5" {
    case "take5": try Console.write(CommandManual.page(of: Subcommand.all))
    case "take5.conf": try Console.write(FileManual.page(of: Subcommand.all))
    default: throw unknownOperand(arguments)
    }
    return .success
  }

  private static func unknownOperand(_ arguments: Arguments) -> CommandFailure {
    CommandFailure(
      .usage, "unknown operand '\(arguments.operands[0])'", remedy: "'take5 --help' lists what the command takes")
  }
}
