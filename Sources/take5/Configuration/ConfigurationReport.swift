import Model
import Postgres

/// The options of a service with their values, as `take5 config` prints them.
struct ConfigurationReport: Encodable, Sendable {
  struct Entry: Encodable, Sendable, Hashable {
    let key: String?
    let option: String
    let variable: String?
    /// Nil if the option has no value. A URL has no password.
    let value: String?
    /// `flag`, the name of a variable, `FILE:LINE` or `default`.
    let source: String
  }

  /// The path of the configuration file; nil if there is none.
  let file: String?
  let options: [Entry]

  init(_ arguments: Arguments, options: [Option]) {
    file = arguments.file?.path
    let entries = options.map { Entry($0, arguments.setting($0.name)) }
    let key = arguments.variable(OtherVariable.apiKey.name).map { _ in
      Entry(
        key: nil, option: "-", variable: OtherVariable.apiKey.name, value: "(not printed)",
        source: OtherVariable.apiKey.name)
    }
    self.options = entries + [key].compactMap(\.self)
  }

  /// A table with a row for each option.
  var text: String {
    var table = TextTable("OPTION", "VALUE", "SOURCE", isNumeric: false)
    for entry in options {
      table.add(entry.option == "-" ? entry.variable : entry.option, entry.value, entry.source)
    }
    return table.lines.joined(separator: "\n")
  }
}

extension ConfigurationReport.Entry {
  fileprivate init(_ option: Option, _ setting: Setting?) {
    key = option.key
    self.option = option.name
    variable = option.variable
    value = setting.map { option.isSecret ? Self.withoutPassword($0.text) : $0.text }
    source =
      switch setting?.source {
      case .option: "flag"
      case .variable(let name): name
      case .file(let path, let line): "\(path):\(line)"
      case .standard, nil: "default"
      }
  }

  private static func withoutPassword(_ text: String) -> String {
    (try? DatabaseURL(text)).map(\.description) ?? "(not a database URL)"
  }
}
