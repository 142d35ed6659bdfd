/// A configuration file in which every key is a comment, with its default and its description.
enum ConfigurationExample {
  static func text(of keys: ConfigurationKeys) -> String {
    let lines = keys.options.flatMap { option -> [String] in
      guard let key = option.key, let placeholder = option.placeholder else { return [] }
      let description = Paragraph.wrapped(option.help, width: 78).map { "# \($0)" }
      return [""] + description + ["#\(key) = \(option.defaultValue ?? placeholder)"]
    }
    return (head + lines).joined(separator: "\n") + "\n"
  }

  private static let head = """
    # Configuration of take5. Each key is the long name of an option without dashes; a
    # line that begins with '#' is a comment. An option or a variable TAKE5_... takes
    # precedence. 'take5 config' checks this file and prints what holds; take5.conf(5)
    # describes it. A service reads it when it starts.
    """.split(separator: "\n").map(String.init)
}
