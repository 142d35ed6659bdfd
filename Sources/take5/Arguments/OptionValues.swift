/// The values that an option takes. The check of a value, the help and the completions of the shells follow from it.
enum OptionValues: Sendable, Hashable {
  /// None: the option is a switch.
  case none
  case text
  case integer(ClosedRange<Int>)
  case seconds(ClosedRange<Double>)
  case choice([String])
  /// A comma-separated list of choices.
  case list([String])
  case file
  case folder
  /// A text of a format, such as an address.
  case format(Format)

  /// A format of texts. Who declares it gives its check.
  struct Format: Sendable {
    /// The name, by which formats differ.
    let name: String
    /// Whether a text may contain a password.
    let isSecret: Bool
    /// The fault of a text, after the name of its option; nil if it has none.
    let problem: @Sendable (String) -> String?
  }

  /// Seconds without an upper limit of their own.
  static let anySeconds = OptionValues.seconds(0...1e9)
  /// Positive integers without an upper limit of their own.
  static let anyPositive = OptionValues.integer(1...Int(Int32.max))

  /// One of the cases of an enumeration.
  static func choice<Choice: RawRepresentable<String> & CaseIterable>(of type: Choice.Type) -> OptionValues {
    .choice(type.allCases.map(\.rawValue))
  }

  /// A comma-separated list of cases of an enumeration.
  static func list<Choice: RawRepresentable<String> & CaseIterable>(of type: Choice.Type) -> OptionValues {
    .list(type.allCases.map(\.rawValue))
  }

  /// A text of a format.
  static func format(
    _ name: String, isSecret: Bool = false, problem: @escaping @Sendable (String) -> String?
  ) -> OptionValues {
    .format(Format(name: name, isSecret: isSecret, problem: problem))
  }

  /// The values that a placeholder of the help names: `front|back`, a `FILE`, a `DIR`; otherwise any text.
  init(placeholder: String?) {
    self =
      switch placeholder {
      case nil: .none
      case "FILE": .file
      case "DIR": .folder
      case let names? where names.contains("|"): .choice(names.split(separator: "|").map(String.init))
      default: .text
      }
  }

  /// Whether a value may contain a password.
  var isSecret: Bool {
    if case .format(let format) = self { format.isSecret } else { false }
  }

  /// The fixed values, for a shell to offer the ones that fit; empty if there are none.
  var choices: [String] {
    switch self {
    case .choice(let choices), .list(let choices): choices
    default: []
    }
  }

  /// The fault of a value, after the name of its option; nil if it has none. A secret is not repeated.
  ///
  /// - Parameter unit: of an integer.
  func problem(with text: String, unit: String? = nil) -> String? {
    switch self {
    case .none, .text, .file, .folder: return nil
    case .integer(let range):
      guard let number = Int(text), range.contains(number) else {
        let unit = unit.map { ", in \($0)" } ?? ""
        return "must be an integer from \(range.lowerBound) to \(range.upperBound)\(unit), not '\(text)'"
      }
    case .seconds(let range):
      guard let number = Double(text), range.contains(number) else {
        let limits = range.lowerBound == 0 ? "" : " from \(range.lowerBound) to \(range.upperBound)"
        return "must be a number of seconds\(limits), not '\(text)'"
      }
    case .choice(let choices):
      guard choices.contains(text) else {
        return "must be one of \(choices.joined(separator: ", ")), not '\(text)'"
      }
    case .list(let choices):
      for part in text.split(separator: ",", omittingEmptySubsequences: false) where !choices.contains(String(part)) {
        return "must be a comma-separated list of \(choices.joined(separator: ", ")), not '\(part)'"
      }
    case .format(let format): return format.problem(text)
    }
    return nil
  }
}

extension OptionValues.Format: Hashable {
  static func == (left: Self, right: Self) -> Bool { left.name == right.name }

  func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
