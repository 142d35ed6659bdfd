import Glibc
internal import Platform

/// The date of a run and the machine that it ran on.
struct Machine: Sendable {
  /// Year, month and day in UTC.
  let date: String
  let processor: String
  let cores: Int
  /// `Debian 12.11`.
  let system: String
  /// The load average of the last minute; nil if unknown.
  let load: Double?

  static func current() throws -> Machine {
    Machine(
      date: today(),
      processor: value(of: "model name", in: "/proc/cpuinfo", separator: ":") ?? "unknown processor",
      cores: sysconf(Int32(_SC_NPROCESSORS_ONLN)), system: system(),
      load: Descriptor.text(of: "/proc/loadavg").split(separator: " ").first.flatMap { Double($0) })
  }

  /// The date and the machine in one line.
  var description: String { "\(date), \(cores) cores of \(processor), \(system)" }

  private static func today() -> String {
    var now = time(nil)
    var parts = tm()
    gmtime_r(&now, &parts)
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
  }

  private static func system() -> String {
    guard value(of: "ID", in: "/etc/os-release", separator: "=") == "debian" else {
      return value(of: "PRETTY_NAME", in: "/etc/os-release", separator: "=") ?? "unknown system"
    }
    // The release file names the major version alone.
    return "Debian \(Descriptor.text(of: "/etc/debian_version").filter { !$0.isNewline })"
  }

  /// The first value of a key in a file of key-value lines.
  private static func value(of key: String, in path: String, separator: Character) -> String? {
    for line in Descriptor.text(of: path).split(separator: "\n") {
      let parts = line.split(separator: separator, maxSplits: 1)
      guard parts.count == 2, parts[0].filter({ $0 != "\t" }) == key else { continue }
      return String(parts[1].drop { $0 == " " }).filter { $0 != "\"" }
    }
    return nil
  }
}
