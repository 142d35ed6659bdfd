import Glibc

/// The states of a process's threads and its CPU time, from proc(5).
package struct ProcessActivity: Sendable, Hashable {
  /// The states of its threads: `R` running or runnable, `S` sleeping, `D` waiting for a device, `T` stopped.
  package var states: Set<Character>
  /// The CPU time used, in seconds.
  package var processorSeconds: Double

  package init(states: Set<Character>, processorSeconds: Double) {
    self.states = states
    self.processorSeconds = processorSeconds
  }

  /// Nil if the process does not exist.
  package init?(of process: Int32) {
    guard let own = KernelFile.read("/proc/\(process)/stat").flatMap(Self.init(stat:)) else { return nil }
    self = own
    for thread in (try? Folder.names(in: "/proc/\(process)/task")) ?? [] {
      guard let stat = KernelFile.read("/proc/\(process)/task/\(thread)/stat") else { continue }
      if let activity = Self(stat: stat) { states.formUnion(activity.states) }
    }
  }

  /// - Parameter stat: `/proc/PID/stat`; the name in parentheses may contain any character.
  init?(stat: String) {
    guard let end = stat.lastIndex(of: ")") else { return nil }
    let fields = stat[stat.index(after: end)...].split(separator: " ")
    // Field 3 is the state, fields 14 and 15 are user and system time in ticks.
    guard fields.count > 12, let state = fields[0].first, let user = Double(fields[11]), let system = Double(fields[12])
    else { return nil }
    states = [state]
    processorSeconds = (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }
}

/// Small files of proc(5) and sysfs(5).
package enum KernelFile {
  private static let maxBytes = 64 << 10

  /// Reads a file; nil on failure.
  package static func read(_ path: String) -> String? {
    guard let file = try? Descriptor(reading: path) else { return nil }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 4096)
    // These files report no size: they are read until end of file.
    while bytes.count < maxBytes,
      let count = try? part.withUnsafeMutableBytes({ try file.read(into: $0, at: Int64(bytes.count)) }),
      count > 0
    {
      bytes += part.prefix(count)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Writes a value; false if the kernel rejects it.
  package static func write(_ text: String, to path: String) -> Bool {
    let number = open(path, O_WRONLY | O_CLOEXEC)
    guard number >= 0 else { return false }
    let file = Descriptor(owning: number)
    return (try? file.write(Array(text.utf8))) != nil
  }
}
