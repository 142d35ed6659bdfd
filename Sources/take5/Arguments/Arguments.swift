import FoundationEssentials
import Model

/// The arguments of a command, parsed according to its options and operands.
struct Arguments: Sendable {
  let operands: [String]
  private let values: [String: String]
  private let switches: Set<String>
  private let environment: [String: String]
  let command: Subcommand
  /// The configuration file; nil if there is none, or the command has no option that is a key of it.
  private(set) var file: ConfigurationFile?

  /// Parses the arguments that follow the name of the command. After `--` every argument is an operand.
  init(
    _ arguments: [String], of command: Subcommand, environment: [String: String], file: ConfigurationFile? = nil
  ) throws(CommandFailure) {
    var operands: [String] = []
    var values: [String: String] = [:]
    var switches: Set<String> = []
    var rest = arguments[...]
    var onlyOperands = false
    while let argument = rest.popFirst() {
      if onlyOperands || argument == "-" || !argument.hasPrefix("-") {
        operands.append(argument)
        continue
      }
      if argument == "--" {
        onlyOperands = true
        continue
      }
      let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard let option = command.options.first(where: { $0.isNamed(parts[0]) }) else {
        throw Self.unknown(parts[0], command)
      }
      guard let placeholder = option.placeholder else {
        guard parts.count == 1 else { throw Self.usage("\(option.name) does not take a value", command) }
        switches.insert(option.name)
        continue
      }
      guard let value = parts.count == 2 ? parts[1] : rest.popFirst() else {
        throw Self.usage("\(option.name) requires a value: \(option.name) \(placeholder)", command)
      }
      values[option.name] = value
    }
    if operands.count < command.operandCounts.lowerBound {
      throw Self.usage("missing argument \(command.operands[operands.count])", command)
    }
    if operands.count > command.operandCounts.upperBound {
      throw Self.usage("unexpected argument '\(operands[command.operandCounts.upperBound])'", command)
    }
    self.operands = operands
    self.values = values
    self.switches = switches
    self.environment = environment
    self.command = command
    self.file = file
  }

  /// The same arguments with a configuration file.
  func with(_ file: ConfigurationFile?) -> Arguments {
    var copy = self
    copy.file = file
    return copy
  }

  /// The value of an option, and its source: the command line, else the environment variable, else the configuration
  /// file, else the default; nil if none has one. An empty variable counts as missing.
  func setting(_ name: String) -> Setting? {
    guard let option = command.options.first(where: { $0.name == name }) else { return nil }
    if let value = values[name] { return Setting(text: value, source: .option(name)) }
    if let variable = option.variable, let value = environment[variable], !value.isEmpty {
      return Setting(text: value, source: .variable(variable))
    }
    if let file, let entry = file.entries.first(where: { $0.key == option.key }) {
      return Setting(text: entry.value, source: .file(path: file.path, line: entry.line))
    }
    return option.defaultValue.map { Setting(text: $0, source: .standard) }
  }

  /// The value of an option; nil if it has none.
  func value(_ name: String) -> String? { setting(name)?.text }

  /// The value of a secret: its option's value, or the first line of the file that its other option names, whichever
  /// has the source that takes precedence.
  func secret(_ option: Option) throws(CommandFailure) -> String? {
    guard let file = setting(option.file.name) else { return value(option.name) }
    if let setting = setting(option.name) {
      guard setting.source.rank != file.source.rank else {
        throw CommandFailure(
          file.source.status,
          "\(setting.source.name(of: option)) and \(file.source.name(of: option.file)) are both set",
          remedy: "keep one of them")
      }
      if setting.source.rank < file.source.rank { return setting.text }
    }
    return try SecretFile(path: file.text).line(of: option.file)
  }

  /// Whether a switch was given.
  func has(_ name: String) -> Bool { switches.contains(name) }

  /// The value of an option as an integer.
  func number(_ name: String) throws(CommandFailure) -> Int? { try checked(name).flatMap { Int($0) } }

  /// The value of an option as a number of seconds.
  func seconds(_ name: String) throws(CommandFailure) -> Double? { try checked(name).flatMap { Double($0) } }

  /// The value of an option, which is one of its values.
  func checked(_ name: String) throws(CommandFailure) -> String? {
    if let failure = failure(of: name) { throw failure }
    return value(name)
  }

  /// The fault of the value of an option; nil if it has none.
  func failure(of name: String) -> CommandFailure? {
    guard let option = command.options.first(where: { $0.name == name }), let setting = setting(name),
      let problem = option.values.problem(with: setting.text, unit: option.unit)
    else { return nil }
    let remedy =
      setting.source.status == .usage
      ? Self.helpRemedy(command) : "correct the line; 'man take5.conf' describes each key"
    return CommandFailure(
      setting.source.status, "\(setting.source.name(of: option)) \(problem)", remedy: remedy)
  }

  /// The value of an option as a point in time: RFC 3339, a day, which begins in UTC, or a duration before `now` such as `45s`,
  /// `30m`, `2h`, `7d` or `1w`.
  func time(_ name: String, now: Date) throws(CommandFailure) -> Date? {
    guard let text = value(name) else { return nil }
    if let date = JSON.date(from: text) ?? JSON.date(from: text + "T00:00:00Z") { return date }
    if let duration = Self.duration(text) { return now - duration / .seconds(1) }
    throw Self.usage(
      "\(name) must be a time such as 2026-11-20T18:30:00Z, a day such as 2026-11-20, or a duration before now such as 45s, 30m, 2h, 7d, "
        + "not '\(text)'", command)
  }

  /// The value of an option as a duration such as `45s`, `30m`, `2h`, `7d` or `1w`.
  func duration(_ name: String) throws(CommandFailure) -> Duration? {
    guard let text = value(name) else { return nil }
    guard let duration = Self.duration(text) else {
      throw Self.usage("\(name) must be a duration such as 45s, 30m, 2h or 7d, not '\(text)'", command)
    }
    return duration
  }

  private static func duration(_ text: String) -> Duration? {
    let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
    guard let unit = text.last.flatMap({ units[$0] }), let count = Int(text.dropLast()), 0...100_000_000 ~= count else {
      return nil
    }
    return .seconds(count * unit)
  }

  /// The value of an option as a comma-separated list of the cases of an enumeration; empty if it is not given.
  func choices<Choice: RawRepresentable<String> & Hashable>(
    _ name: String, of type: Choice.Type
  ) throws(CommandFailure) -> Set<Choice> {
    Set(try checked(name)?.split(separator: ",").compactMap { Choice(rawValue: String($0)) } ?? [])
  }

  /// The value of an option as a case of an enumeration.
  func choice<Choice: RawRepresentable<String>>(
    _ name: String, of type: Choice.Type
  ) throws(CommandFailure) -> Choice? {
    try checked(name).flatMap { Choice(rawValue: $0) }
  }

  /// The value of an environment variable that belongs to no option; nil if it is empty.
  func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }

  private static func unknown(_ name: String, _ command: Subcommand) -> CommandFailure {
    if command.passesArguments {
      return CommandFailure(
        .usage, "unknown option '\(name)': options of the program stand behind '--'",
        remedy: "write 'take5 \(command.name) -- PROGRAM \(name) …'")
    }
    let names = command.options.map(\.name) + ["--help"]
    guard let nearest = NearestName.ofOption(name, among: names) else {
      return usage("unknown option '\(name)'", command)
    }
    return CommandFailure(
      .usage, "unknown option '\(name)': did you mean '\(nearest)'?", remedy: helpRemedy(command))
  }

  private static func usage(_ message: String, _ command: Subcommand) -> CommandFailure {
    CommandFailure(.usage, message, remedy: helpRemedy(command))
  }

  private static func helpRemedy(_ command: Subcommand) -> String { "see 'take5 \(command.name) --help'" }
}
