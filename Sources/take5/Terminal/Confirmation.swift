import Glibc

/// The question before a change that cannot be undone.
enum Confirmation {
  static let option = Option("--yes", help: "do not ask before a change that cannot be undone")

  /// Says what happens, and asks on the terminal unless `--yes` is given. Status 64 without a terminal, 130 after a no.
  static func require(_ effect: String, _ arguments: Arguments) throws(CommandFailure) {
    if arguments.has(option.name) { return }
    guard isatty(0) == 1 else {
      throw CommandFailure(.usage, "\(effect): --yes is required without a terminal", remedy: "add --yes to do it")
    }
    Console.writeError("\(effect)\nDo it? [y/N] ")
    guard ["y", "yes"].contains(readLine()?.lowercased()) else {
      throw CommandFailure(.interrupted, "nothing was changed")
    }
  }
}
