/// The value of an option, and where it comes from.
struct Setting: Sendable, Hashable {
  enum Source: Sendable, Hashable {
    case option(String)
    case variable(String)
    case file(path: String, line: Int)
    case standard
  }

  let text: String
  let source: Source
}

extension Setting.Source {
  /// The place in the order of precedence; 0 is the first.
  var rank: Int {
    switch self {
    case .option: 0
    case .variable: 1
    case .file: 2
    case .standard: 3
    }
  }

  /// The exit status if the value is wrong.
  var status: ExitStatus {
    if case .file = self { .configuration } else { .usage }
  }

  /// The option as the source names it.
  func name(of option: Option) -> String {
    switch self {
    case .option, .standard: option.name
    case .variable(let name): name
    case .file(let path, let line): "\(path):\(line): \(option.key ?? option.name)"
    }
  }
}
