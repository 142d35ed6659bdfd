/// A word of a command line that a person copies.
enum ShellWord {
  /// A text as one word of a shell: between single quotes unless no character needs them.
  static func quoted(_ text: String) -> String {
    !text.isEmpty && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "/._-:".contains($0)) }
      ? text : "'\(text.replacing("'", with: #"'\''"#))'"
  }
}
