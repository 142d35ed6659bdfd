import Glibc

/// What a process does at a moment, from proc(5).
package struct ProcessActivity: Sendable, Hashable {
  /// Of its threads: `R` runs or waits for a processor, `S` sleeps, `D` waits for a device, `T` was stopped.
  package var states: Set<Character>
  /// The processor time that it has used.
  package var processorSeconds: Double

  package init(states: Set<Character>, processorSeconds: Double) {
    self.states = states
    self.processorSeconds = processorSeconds
  }

  /// Nil if the process is gone.
  package init?(of process: Int32) {
    guard let own = KernelFile.read("/proc/\(process)/stat").flatMap(Self.init(stat:)) else { return nil }
    self = own
    for thread in (try? Folder.names(in: "/proc/\(process)/task")) ?? [] {
      guard let stat = KernelFile.read("/proc/\(process)/task/\(thread)/stat") else { continue }
      if let activity = Self(stat: stat) { states.formUnion(activity.states) }
    }
  }

  /// - Parameter stat: `/proc/PID/stat`; the name in parentheses may hold anything.
  init?(stat: String) {
    guard let end = stat.lastIndex(of: ")") else { return nil }
    let fields = stat[stat.index(after: end)...].split(separator: " ")
    // The third field is the state, the fourteenth and fifteenth are user and system time in ticks.
    guard fields.count > 12, let state = fields[0].first, let user = Double(fields[11]), let system = Double(fields[12])
    else { return nil }
    states = [state]
    processorSeconds = (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }
}
