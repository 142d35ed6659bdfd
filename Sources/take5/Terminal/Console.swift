import Glibc

/// What the command line says: answers on standard output, everything else on standard error.
enum Console {
  /// Writes an answer and ends its line; status 74 if it does not get out.
  static func print(_ text: String) throws(CommandFailure) { try write(text + "\n") }

  /// Writes an answer as it is; status 74 if it does not get out.
  static func write(_ text: String) throws(CommandFailure) {
    guard let code = send(text, to: 1) else { return }
    // Who closed the pipe, as head(1) does, has what it wanted.
    if code == EPIPE { throw .closedOutput }
    throw CommandFailure(
      .io, "the answer cannot be written to standard output: \(String(cString: strerror(code)))",
      remedy: "send it elsewhere, or make room, and ask again")
  }

  /// Writes a remark and ends its line; it is lost where nobody takes it.
  static func note(_ text: String) { remark(text + "\n") }

  /// Writes a remark as it is; it is lost where nobody takes it.
  static func remark(_ text: String) { _ = send(text, to: 2) }

  /// Returns the error if not everything was written.
  private static func send(_ text: String, to descriptor: Int32) -> Int32? {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        // Whoever shares the terminal or the pipe may have made it so.
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&request, 1, -1)
      } else if errno != EINTR {
        return errno
      }
    }
    return nil
  }

  /// Whether nobody reads standard output any more: who waits long for something to say would never find out.
  static var isClosed: Bool {
    var request = pollfd(fd: 1, events: 0, revents: 0)
    return poll(&request, 1, 0) > 0 && request.revents & Int16(POLLERR) != 0
  }

  /// Whether a person looks at standard error through a terminal that can draw a line anew.
  static var isTerminal: Bool { isatty(2) == 1 && canRedraw }

  /// Whether a person looks at standard output through a terminal that can draw lines anew.
  static var answersPerson: Bool { isatty(1) == 1 && canRedraw }

  /// `TERM=dumb` is a terminal that only writes on, as those of editors are (terminfo(5)).
  private static var canRedraw: Bool {
    guard let kind = getenv("TERM") else { return false }
    return !["", "dumb"].contains(String(cString: kind))
  }

  /// How many characters a line of the terminal behind a descriptor has; 80 where it does not say.
  static func width(of descriptor: Int32) -> Int {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }
}
