import Platform

/// The manual page take5.conf(5): the format of the configuration file and its keys.
enum FileManual {
  static func page(of commands: [Subcommand]) -> String {
    let keys = ConfigurationKeys(of: commands)
    var roff = Roff("take5.conf", section: 5, abstract: "configuration file of take5", version: ThisProcess.version)
    roff.section("DESCRIPTION")
    roff.text(
      "Commands of take5(1) read the file that --config or TAKE5_CONFIG names, otherwise "
        + "\(ConfigurationFile.standardPath) if it exists. A service reads it when it starts.")
    roff.paragraph(
      "Each line is empty, a comment that begins with #, or has the form key = value. A comment may follow a value "
        + "after a blank. A value that contains # after a blank, or begins with a quote, stands between single "
        + "quotes, in which two quotes stand for one. The file is UTF-8 and has at most "
        + "\(ConfigurationFile.maxSize >> 10) KiB. A key is set once.")
    roff.paragraph(
      "A key is the long name of an option without dashes. The option on the command line takes precedence, and so "
        + "does its environment variable. A key that the command does not have is ignored if another command has it. "
        + "An unknown key, and a wrong value, end the command with status 78.")
    roff.paragraph(
      "take5 config prints what holds, and all errors; take5 config --example prints a file with all keys.")
    roff.section("KEYS")
    for option in keys.options {
      guard let key = option.key else { continue }
      let names = commands.filter { !$0.isHidden && $0.options.contains { $0.key == key } }.map(\.name)
      roff.term(
        key, value: option.placeholder, option.help,
        [
          option.variable.map { "Variable: \($0)." }, option.defaultValue.map { "Default: \($0)." },
          "Commands: \(names.joined(separator: ", ")).",
        ].compactMap(\.self).joined(separator: " "))
    }
    roff.section("SECRETS")
    roff.text(
      "A secret belongs into a file that only the service may read: api-key-file, database-file and "
        + "listen-database-file name such files. With LoadCredential= of systemd.exec(5) the path is %d/NAME in the "
        + "unit, such as Environment=TAKE5_DATABASE_URL_FILE=%d/database. take5 doctor warns about a file with a "
        + "secret that every user may read.")
    roff.section("FILES")
    roff.term(ConfigurationFile.standardPath, "The file that is read if no other one is named.")
    roff.section("EXAMPLES")
    roff.example([
      "# Behind nginx, with a PostgreSQL server of its own.", "listen = 127.0.0.1:8080",
      "trusted-proxy = 127.0.0.1", "slots = 2", "database-file = /etc/take5/database",
    ])
    roff.section("SEE ALSO")
    roff.text("take5(1), systemd.exec(5)")
    return roff.page
  }
}
