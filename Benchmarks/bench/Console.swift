import Glibc

/// What is said beside the report, on standard error.
enum Console {
  /// Says something that is no result.
  static func note(_ text: String) { write("\(text)\n") }

  /// Shows on a terminal what is being done, in place of what was shown before; nothing for an empty text.
  static func progress(_ text: String) {
    if isatty(STDERR_FILENO) == 1 { write("\r\u{1B}[K\(text)") }
  }

  private static func write(_ text: String) { _ = Glibc.write(STDERR_FILENO, text, text.utf8.count) }
}
