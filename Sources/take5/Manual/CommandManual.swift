import Platform

/// The manual page take5(1): all commands with their options.
enum CommandManual {
  static func page(of commands: [Subcommand]) -> String {
    let shown = commands.filter { !$0.isHidden }
    var roff = Roff(
      "take5", section: 1, abstract: "compose the two clips of a moment into one video", version: ThisProcess.version)
    roff.section("SYNOPSIS")
    roff.term("take5", value: "COMMAND [OPTIONS]", Help.abstract)
    roff.section("DESCRIPTION")
    roff.text(
      "take5 is a service and a command line. take5 serve receives moments over HTTP, stores them in PostgreSQL and a "
        + "folder, and composes them. The other commands submit to a service, operate it, or work without one.")
    roff.paragraph(
      "An option takes its value from the command line. Otherwise it takes the value of its environment variable, "
        + "then its key in the configuration file, then its default. See take5.conf(5) for the file.")
    roff.section("COMMANDS")
    for command in shown {
      roff.subsection("take5 \(Help.synopsis(command))")
      roff.text(command.abstract)
      for option in command.allOptions {
        let short = option.short.map { "\($0), " } ?? ""
        roff.term(short + option.name, value: option.placeholder, option.help, origin(of: option))
      }
      roff.paragraph("Example:")
      roff.example([command.example])
    }
    roff.section("EXIT STATUS")
    for (status, meaning) in ExitStatus.meanings { roff.term("\(status.rawValue)", meaning) }
    roff.section("ENVIRONMENT")
    roff.text("An empty variable counts as missing.")
    var seen: Set<String> = []
    for option in shown.flatMap(\.options) {
      guard let variable = option.variable, seen.insert(variable).inserted else { continue }
      roff.term(variable, "See \(option.name).")
    }
    for variable in OtherVariable.all { roff.term(variable.name, variable.help) }
    roff.section("FILES")
    roff.term(ConfigurationFile.standardPath, "The configuration file, unless --config names another: take5.conf(5).")
    roff.section("SEE ALSO")
    roff.text("take5.conf(5), psql(1), ffmpeg(1)")
    return roff.page
  }

  /// Where a value comes from without the option.
  private static func origin(of option: Option) -> String {
    [
      option.variable.map { "Variable: \($0)." }, option.key.map { "Key: \($0)." },
      option.defaultValue.map { "Default: \($0)." },
    ].compactMap(\.self).joined(separator: " ")
  }
}
