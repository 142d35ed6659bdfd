import FoundationEssentials
import Model

/// The arguments of a command, parsed according to its options and operands.
struct Arguments: Sendable {
  let operands: [String]
  private let values: [String: String]
  private let switches: Set<String>
  private let environment: [String: String]
  private let command: Subcommand

  /// Parses the arguments that follow the name of the command. After `--` every argument is an operand.
  init(_ arguments: [String], of command: Subcommand, environment: [String: String]) throws(CommandFailure) {
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
        throw Self.usage("unknown option '\(parts[0])'", command)
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
  }

  /// The value of an option: from the command line, else from its environment variable, else its default.
  func value(_ name: String) -> String? {
    if let value = values[name] { return value }
    guard let option = command.options.first(where: { $0.name == name }) else { return nil }
    for variable in option.variables {
      if let value = environment[variable], !value.isEmpty { return value }
    }
    return option.defaultValue
  }

  /// Whether a switch was given.
  func has(_ name: String) -> Bool { switches.contains(name) }

  /// The value of an option as an integer within a range.
  func number(_ name: String, in range: ClosedRange<Int>) throws(CommandFailure) -> Int? {
    guard let text = value(name) else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw Self.usage(
        "\(name) must be an integer from \(range.lowerBound) to \(range.upperBound), not '\(text)'", command)
    }
    return number
  }

  /// The value of an option as a number of seconds within a range.
  func seconds(_ name: String, in range: ClosedRange<Double> = 0...1e9) throws(CommandFailure) -> Double? {
    guard let text = value(name) else { return nil }
    guard let number = Double(text), range.contains(number) else {
      let limits = range.lowerBound == 0 ? "" : " from \(range.lowerBound) to \(range.upperBound)"
      throw Self.usage("\(name) must be a number of seconds\(limits), not '\(text)'", command)
    }
    return number
  }

  /// The value of an option as a point in time: RFC 3339, or a duration before `now` such as `45s`, `30m`, `2h`, `7d`
  /// or `1w`.
  func time(_ name: String, now: Date) throws(CommandFailure) -> Date? {
    guard let text = value(name) else { return nil }
    if let date = JSON.date(from: text) { return date }
    if let duration = Self.duration(text) { return now - duration / .seconds(1) }
    throw Self.usage(
      "\(name) must be a time such as 2026-11-20T18:30:00Z, or a duration before now such as 45s, 30m, 2h, 7d, "
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
  func choices<Choice: RawRepresentable<String> & CaseIterable & Hashable>(
    _ name: String, of type: Choice.Type
  ) throws(CommandFailure) -> Set<Choice> {
    var choices: Set<Choice> = []
    for part in value(name)?.split(separator: ",", omittingEmptySubsequences: false) ?? [] {
      guard let choice = Choice(rawValue: String(part)) else {
        throw Self.usage("\(name) must be a comma-separated list of \(Self.names(type)), not '\(part)'", command)
      }
      choices.insert(choice)
    }
    return choices
  }

  /// The value of an option as a case of an enumeration.
  func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ name: String, of type: Choice.Type
  ) throws(CommandFailure) -> Choice? {
    try choice(name, of: type.allCases.map(\.rawValue)).flatMap { Choice(rawValue: $0) }
  }

  /// The value of an option as one of these texts.
  func choice(_ name: String, of choices: [String]) throws(CommandFailure) -> String? {
    guard let text = value(name) else { return nil }
    guard choices.contains(text) else {
      throw Self.usage("\(name) must be one of \(choices.joined(separator: ", ")), not '\(text)'", command)
    }
    return text
  }

  private static func names<Choice: RawRepresentable<String> & CaseIterable>(_ type: Choice.Type) -> String {
    type.allCases.map(\.rawValue).joined(separator: ", ")
  }

  /// Prints a line about an output: on standard output, or on standard error if the output itself goes to standard
  /// output.
  func printResult(_ line: String, writing destination: String?) throws(CommandFailure) {
    if let destination, OutputFile.isStandardOutput(destination) { Console.note(line) } else { try Console.print(line) }
  }

  /// The value of an environment variable that belongs to no option; nil if it is empty.
  func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }

  private static func usage(_ message: String, _ command: Subcommand) -> CommandFailure {
    CommandFailure(.usage, message, remedy: "see 'take5 \(command.name) --help'")
  }
}
