import Glibc

/// The standard streams of the process: results go to standard output, everything else to standard error.
enum Console {
  /// Writes a line to standard output; status 74 if that fails.
  static func print(_ text: String) throws(CommandFailure) { try write(text + "\n") }

  /// Writes a text to standard output; status 74 if that fails.
  static func write(_ text: String) throws(CommandFailure) {
    guard let code = send(text, to: 1) else { return }
    // A reader that closed the pipe, such as head(1), needs no message.
    if code == EPIPE { throw .closedOutput }
    throw CommandFailure(
      .io, "standard output cannot be written: \(String(cString: strerror(code)))",
      remedy: "redirect the output to another file, or free space on the device, and try again")
  }

  /// Writes a line to standard error; a failure is ignored.
  static func note(_ text: String) { writeError(text + "\n") }

  /// Writes a text to standard error; a failure is ignored.
  static func writeError(_ text: String) { _ = send(text, to: 2) }

  /// Returns `errno` if not everything was written.
  private static func send(_ text: String, to descriptor: Int32) -> Int32? {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        // Another process that shares the terminal or the pipe may have set O_NONBLOCK.
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&request, 1, -1)
      } else if errno != EINTR {
        return errno
      }
    }
    return nil
  }

  /// Whether standard error is a terminal that can redraw a line.
  static var isErrorTerminal: Bool { isatty(2) == 1 && canRedraw }

  /// `TERM=dumb` is a terminal without cursor movement, such as an editor's (terminfo(5)).
  private static var canRedraw: Bool {
    guard let kind = getenv("TERM") else { return false }
    return !["", "dumb"].contains(String(cString: kind))
  }

  /// The number of columns of the terminal behind a descriptor; 80 if it is unknown.
  static func width(of descriptor: Int32) -> Int {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }
}

/// A table of text with titles. Columns have the width of their longest cell; numbers are right-aligned.
struct TextTable {
  private let titles: [String]
  private let alignsNumbers: Bool
  private var rows: [[String]] = []

  /// - Parameter isNumeric: whether columns of numbers are right-aligned.
  init(_ titles: String..., isNumeric: Bool = true) {
    self.titles = titles
    alignsNumbers = isNumeric
  }

  /// Adds a row; nil is shown as a dash.
  mutating func add(_ cells: String?...) { rows.append(cells.map { $0 ?? "-" }) }

  var isEmpty: Bool { rows.isEmpty }

  /// The lines of the table, with the titles first.
  var lines: [String] {
    let all = [titles] + rows
    let widths = titles.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
    let isNumeric = titles.indices.map { column in
      alignsNumbers
        && rows.allSatisfy { row in row[column] == "-" || row[column].first?.isNumber == true && row[column].count < 12
        }
    }
    return all.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        if column > 0 { line += "  " }
        let padding = String(repeating: " ", count: widths[column] - cell.count)
        line += isNumeric[column] ? padding + cell : cell + padding
      }
      while line.last == " " { line.removeLast() }
      return line
    }
  }
}
