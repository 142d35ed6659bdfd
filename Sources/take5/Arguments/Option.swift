/// One option of a command.
struct Option: Sendable, Hashable {
  /// The name with its dashes, such as `--data`.
  let name: String
  /// The placeholder of the value in the help, such as `DIR`; nil for a switch without a value.
  let placeholder: String?
  let values: OptionValues
  /// The environment variable that is read if the option is not given, such as `TAKE5_DATA`.
  let variable: String?
  /// The value if neither the option nor the variable is given, as the help shows it.
  let defaultValue: String?
  let help: String
  /// A short form, such as `-o`.
  let short: String?
  /// The key that sets the option in a configuration file, such as `data`; nil for an option of a single command, which
  /// has no variable either.
  let key: String?
  /// The property of the configuration that the option sets; nil: the command reads it.
  let property: Property?

  typealias Property = any AnyKeyPath & Sendable

  /// - Parameter values: by default the ones that the placeholder names.
  init(
    _ name: String, _ placeholder: String? = nil, _ values: OptionValues? = nil, variable: String? = nil,
    default defaultValue: String? = nil, short: String? = nil,
    isInFile: Bool = true, property: Property? = nil, help: String
  ) {
    self.name = name
    self.placeholder = placeholder
    self.values = values ?? OptionValues(placeholder: placeholder)
    self.variable = variable
    key = variable != nil && isInFile ? String(name.dropFirst(2)) : nil
    self.defaultValue = defaultValue
    self.short = short
    self.property = property
    self.help = help
  }

  /// The option that names a file with the value of this one, which may be a secret.
  var file: Option {
    Option(
      name + "-file", "FILE", variable: variable.map { $0 + "_FILE" },
      help: "file whose first line is the value of \(name), which may contain a password")
  }

  /// Whether the value may contain a password.
  var isSecret: Bool { values.isSecret }

  /// The unit of the value, for messages; nil: its name or the message says it.
  var unit: String? { placeholder == "MIB" || placeholder == "MB" ? "MiB" : nil }

  /// Whether an argument names the option.
  func isNamed(_ argument: String) -> Bool { argument == name || argument == short }
}

/// Options of the program, which no command declares.
extension Option {
  static let configuration = Option(
    "--config", "FILE", variable: "TAKE5_CONFIG", isInFile: false,
    help: "configuration file, instead of \(ConfigurationFile.standardPath) if that exists")
  static let help = Option("--help", help: "print this text")
}
