import Glibc
import Synchronization

/// The seed that this process works on, for the report of a trap: a parser that traps ends the process.
package enum CurrentSeed {
  private static let seed = Atomic<UInt64>(0)
  /// The longest time for a parser, in seconds.
  private static let maxSeconds: UInt32 = 20

  static func store(_ number: UInt64) { seed.store(number, ordering: .relaxed) }

  /// Prints the seed when a signal ends this process.
  package static func reportTraps() {
    for number in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT, SIGFPE] {
      signal(number) { number in
        CurrentSeed.report()
        signal(number, SIG_DFL)
        raise(number)
      }
    }
  }

  // Only functions that are safe in a signal handler (signal-safety(7)).
  private static func report() {
    var rest = seed.load(ordering: .relaxed)
    var place = 1_000_000_000_000 as UInt64
    var text: (StaticString) = "mutate: a trap at seed "
    _ = write(2, text.utf8Start, text.utf8CodeUnitCount)
    while place > 0 {
      var digit = UInt8(ascii: "0") + UInt8(rest / place % 10)
      _ = write(2, &digit, 1)
      place /= 10
    }
    rest = 0
    text = "\n"
    _ = write(2, text.utf8Start, text.utf8CodeUnitCount)
  }
}
