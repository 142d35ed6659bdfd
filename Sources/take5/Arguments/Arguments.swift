import FoundationEssentials
import Model

/// The words of a command, read by the rules of its verb.
struct Arguments: Sendable {
  let operands: [String]
  private let values: [String: String]
  private let switches: Set<String>
  private let environment: [String: String]
  private let verb: Subcommand

  /// Reads the words after the verb; a word after `--` is always an operand.
  init(_ words: [String], of verb: Subcommand, environment: [String: String]) throws(CommandFailure) {
    var operands: [String] = []
    var values: [String: String] = [:]
    var switches: Set<String> = []
    var rest = words[...]
    var onlyOperands = false
    while let word = rest.popFirst() {
      if onlyOperands || word == "-" || !word.hasPrefix("-") {
        operands.append(word)
        continue
      }
      if word == "--" {
        onlyOperands = true
        continue
      }
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard let option = verb.options.first(where: { $0.name == parts[0] || $0.short == parts[0] }) else {
        throw Self.wrong("there is no option \(parts[0])", verb)
      }
      guard let placeholder = option.placeholder else {
        guard parts.count == 1 else { throw Self.wrong("\(option.name) takes no value", verb) }
        switches.insert(option.name)
        continue
      }
      guard let value = parts.count == 2 ? parts[1] : rest.popFirst() else {
        throw Self.wrong("\(option.name) needs a value: \(option.name) \(placeholder)", verb)
      }
      values[option.name] = value
    }
    if operands.count < verb.operandCounts.lowerBound {
      throw Self.wrong("\(verb.operands[operands.count]) is missing", verb)
    }
    if operands.count > verb.operandCounts.upperBound {
      throw Self.wrong("'\(operands[verb.operandCounts.upperBound])' is one word too many", verb)
    }
    self.operands = operands
    self.values = values
    self.switches = switches
    self.environment = environment
    self.verb = verb
  }

  /// What an option was given, on the command line or else in its environment variable, or else its default.
  func value(_ name: String) -> String? {
    if let value = values[name] { return value }
    guard let option = verb.options.first(where: { $0.name == name }) else { return nil }
    if let variable = option.variable, let value = environment[variable], !value.isEmpty { return value }
    return option.fallback
  }

  /// Whether a switch was given.
  func has(_ name: String) -> Bool { switches.contains(name) }

  /// An option's value as a whole number within a range.
  func number(_ name: String, in range: ClosedRange<Int>) throws(CommandFailure) -> Int? {
    guard let text = value(name) else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw Self.wrong("\(name) is a whole number from \(range.lowerBound) to \(range.upperBound), not '\(text)'", verb)
    }
    return number
  }

  /// An option's value as a number of seconds within a range.
  func seconds(_ name: String, in range: ClosedRange<Double> = 0...1e9) throws(CommandFailure) -> Double? {
    guard let text = value(name) else { return nil }
    guard let number = Double(text), range.contains(number) else {
      let least = range.lowerBound == 0 ? "" : ", \(range.lowerBound) at least"
      throw Self.wrong("\(name) is a number of seconds\(least), not '\(text)'", verb)
    }
    return number
  }

  /// An option's value as a moment: a time as RFC 3339 writes it, or how long before `now` it was, `45s`, `30m`, `2h`,
  /// `7d` or `1w`.
  func time(_ name: String, now: Date) throws(CommandFailure) -> Date? {
    guard let text = value(name) else { return nil }
    if let date = JSON.date(from: text) { return date }
    if let span = Self.span(text) { return now - span / .seconds(1) }
    throw Self.wrong(
      "\(name) is a time such as 2026-11-20T18:30:00Z, or so long ago: 45s, 30m, 2h, 7d; not '\(text)'", verb)
  }

  /// An option's value as a length of time: `45s`, `30m`, `2h`, `7d` or `1w`.
  func span(_ name: String) throws(CommandFailure) -> Duration? {
    guard let text = value(name) else { return nil }
    guard let span = Self.span(text) else {
      throw Self.wrong("\(name) is a length of time such as 45s, 30m, 2h or 7d, not '\(text)'", verb)
    }
    return span
  }

  private static func span(_ text: String) -> Duration? {
    let units: [Character: Int] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
    guard let unit = text.last.flatMap({ units[$0] }), let count = Int(text.dropLast()), 0...100_000_000 ~= count else {
      return nil
    }
    return .seconds(count * unit)
  }

  /// An option's value as some of a few words, with commas between them; empty where nothing is given.
  func choices<Choice: RawRepresentable<String> & CaseIterable & Hashable>(
    _ name: String, of type: Choice.Type
  ) throws(CommandFailure) -> Set<Choice> {
    var choices: Set<Choice> = []
    for word in value(name)?.split(separator: ",", omittingEmptySubsequences: false) ?? [] {
      guard let choice = Choice(rawValue: String(word)) else {
        let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        throw Self.wrong("\(name) is some of \(words), with commas between them, not '\(word)'", verb)
      }
      choices.insert(choice)
    }
    return choices
  }

  /// An option's value as one of a few words.
  func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ name: String, of type: Choice.Type
  ) throws(CommandFailure) -> Choice? {
    guard let text = value(name) else { return nil }
    guard let choice = Choice(rawValue: text) else {
      let words = Choice.allCases.map(\.rawValue).joined(separator: ", ")
      throw Self.wrong("\(name) is one of \(words), not '\(text)'", verb)
    }
    return choice
  }

  /// Tells a line of the answer: on standard output, unless that is where a file goes.
  func tell(_ line: String, beside destination: String?) throws(CommandFailure) {
    if let destination, OutputFile.isStandardOutput(destination) { Console.note(line) } else { try Console.print(line) }
  }

  /// The variable of the environment that is not tied to an option.
  func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }

  private static func wrong(_ message: String, _ verb: Subcommand) -> CommandFailure {
    CommandFailure(.usage, message, remedy: "'take5 \(verb.name) --help' tells how it is used")
  }
}
