import Glibc

/// The cgroup under whose memory limit a process runs, as far as this machine tells (cgroups(7)).
package struct MemoryCgroup: Sendable, Hashable {
  /// Its folder, with `memory.events` or, in version 1, `memory.oom_control`.
  let folder: String
  let isFirstVersion: Bool

  /// Nil if the process is gone, or nothing here limits memory by cgroups.
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
      // In a container the hierarchy may be mounted from the container's own cgroup on.
      let inside = mount.root == "/" || !path.hasPrefix(mount.root) ? path : path.dropFirst(mount.root.count)
      folder = mount.folder + (inside == "/" ? "" : inside)
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

  /// The processes that it holds; none if it cannot be read.
  package var processes: [Int32] {
    (KernelFile.read("\(folder)/cgroup.procs") ?? "").split(separator: "\n").compactMap { Int32($0) }
  }

  /// How many processes the kernel has ended here because memory ran out; nil if it does not tell.
  package var outOfMemoryKills: Int? {
    let file = isFirstVersion ? "memory.oom_control" : "memory.events"
    return KernelFile.read("\(folder)/\(file)").flatMap(Self.outOfMemoryKills)
  }

  static func outOfMemoryKills(in text: String) -> Int? {
    let line = text.split(separator: "\n").first { $0.hasPrefix("oom_kill ") }
    return line.flatMap { Int($0.dropFirst("oom_kill ".count)) }
  }
}
