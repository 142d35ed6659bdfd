import Glibc

/// What the command line says: answers on standard output, everything else on standard error.
enum Console {
  /// Writes an answer and ends its line.
  static func print(_ text: String) { write(text + "\n", to: 1) }

  /// Writes a remark and ends its line.
  static func note(_ text: String) { write(text + "\n", to: 2) }

  /// Writes as it is.
  static func write(_ text: String, to descriptor: Int32) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        return
      }
    }
  }

  /// Whether a person reads standard error.
  static var isTerminal: Bool { isatty(2) == 1 }

  /// Whether a person reads standard output.
  static var answersPerson: Bool { isatty(1) == 1 }

  /// How many characters a line of the terminal behind standard output has; 80 where it does not say.
  static var width: Int {
    var size = winsize()
    guard ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }
}
