import Glibc

/// The cgroup that limits the memory of a process (cgroups(7)).
package struct MemoryCgroup: Sendable, Hashable {
  /// Its directory, with `memory.events` or, in version 1, `memory.oom_control`.
  package let folder: String
  let isFirstVersion: Bool

  init(folder: String, isFirstVersion: Bool) {
    self.folder = folder
    self.isFirstVersion = isFirstVersion
  }

  /// Nil if the process does not exist, or no cgroup has a memory controller.
  package init?(of process: Int32) {
    guard let memberships = KernelFile.read("/proc/\(process)/cgroup") else { return nil }
    self.init(memberships: memberships, mounts: Self.mounts)
  }

  private static let mounts = KernelFile.read("/proc/self/mountinfo") ?? ""

  /// - Parameters:
  ///   - memberships: `/proc/PID/cgroup`.
  ///   - mounts: `/proc/self/mountinfo` (proc(5)).
  init?(memberships: String, mounts: String) {
    var first: Substring?
    var second: Substring?
    for line in memberships.split(separator: "\n") {
      let fields = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard fields.count == 3 else { continue }
      if fields[1].split(separator: ",").contains("memory") { first = fields[2] }
      if fields[0] == "0", fields[1].isEmpty { second = fields[2] }
    }
    for (path, isFirst) in [(first, true), (second, false)] {
      guard let path, let mount = Self.mount(isFirst ? "cgroup" : "cgroup2", in: mounts) else { continue }
      // In a container, the root of the mount may be the container's cgroup.
      let relative = mount.root == "/" || !path.hasPrefix(mount.root) ? path : path.dropFirst(mount.root.count)
      folder = mount.folder + (relative == "/" ? "" : relative)
      isFirstVersion = isFirst
      return
    }
    return nil
  }

  private static func mount(_ type: String, in mounts: String) -> (root: String, folder: String)? {
    for line in mounts.split(separator: "\n") {
      let halves = line.split(separator: " - ", maxSplits: 1)
      let (fields, rest) = (halves[0].split(separator: " "), (halves.count == 2 ? halves[1] : "").split(separator: " "))
      guard fields.count >= 5, rest.count >= 3, rest[0] == type else { continue }
      if type == "cgroup" && !rest[2].split(separator: ",").contains("memory") { continue }
      return (String(fields[3]), String(fields[4]))
    }
    return nil
  }

  /// The ids of its processes; empty if they cannot be read.
  package var processes: [Int32] {
    (KernelFile.read("\(folder)/cgroup.procs") ?? "").split(separator: "\n").compactMap { Int32($0) }
  }

  /// The number of processes of the cgroup that the OOM killer has killed; nil if the kernel does not report it.
  package var outOfMemoryKills: Int? {
    let file = isFirstVersion ? "memory.oom_control" : "memory.events"
    return KernelFile.read("\(folder)/\(file)").flatMap(Self.outOfMemoryKills)
  }

  static func outOfMemoryKills(in text: String) -> Int? {
    let line = text.split(separator: "\n").first { $0.hasPrefix("oom_kill ") }
    return line.flatMap { Int($0.dropFirst("oom_kill ".count)) }
  }
}
