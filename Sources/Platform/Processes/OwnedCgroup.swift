internal import CSystem
import Glibc

/// A cgroup of this program below its own (cgroups(7)), removed by its owner, with a limit of memory for what it holds.
package struct OwnedCgroup: ~Copyable, Sendable {
  /// The cgroup as a holder of memory.
  package let memory: MemoryCgroup

  /// Creates a cgroup, and moves a process into it.
  ///
  /// - Parameters:
  ///   - name: of the directory, unique in this process.
  ///   - memoryLimit: in bytes.
  ///   - parent: the cgroup in which this one is created; by default the cgroup of this process.
  package static func make(
    name: String, memoryLimit: UInt64, process: Int32, in parent: MemoryCgroup? = MemoryCgroup(of: getpid())
  ) throws(SystemError) -> OwnedCgroup {
    guard let parent else { throw SystemError(call: "cgroup", code: ENOENT, subject: "memory") }
    removeOrphans(in: parent.folder)
    let folder = "\(parent.folder)/\(prefix)\(getpid())-\(name)"
    guard mkdir(folder, 0o755) == 0 else { throw SystemError(call: "mkdir", subject: folder) }
    let cgroup = OwnedCgroup(memory: MemoryCgroup(folder: folder, isFirstVersion: parent.isFirstVersion))
    let limit = "\(folder)/\(cgroup.memory.limitFile)"
    guard parent.givesMemory(to: cgroup.memory), KernelFile.write("\(memoryLimit)", to: limit) else {
      throw SystemError(call: "write", code: EBUSY, subject: limit)
    }
    let processes = "\(folder)/cgroup.procs"
    guard KernelFile.write("\(process)", to: processes) else { throw SystemError(call: "write", subject: processes) }
    return cgroup
  }

  private init(memory: MemoryCgroup) { self.memory = memory }

  deinit { rmdir(memory.folder) }

  private static let prefix = "take5-media-"

  // A program that was killed leaves empty directories.
  private static func removeOrphans(in folder: String) {
    for name in (try? Folder.names(in: folder)) ?? [] where name.hasPrefix(prefix) {
      guard let owner = Int32(name.dropFirst(prefix.count).prefix { $0.isNumber }) else { continue }
      if owner != getpid(), kill(owner, 0) != 0, errno == ESRCH { rmdir("\(folder)/\(name)") }
    }
  }
}

extension MemoryCgroup {
  fileprivate var limitFile: String { isFirstVersion ? "memory.limit_in_bytes" : "memory.max" }

  /// The memory that its processes use and that the kernel charges to it, in bytes.
  package var usage: UInt64? {
    let file = isFirstVersion ? "memory.usage_in_bytes" : "memory.current"
    return KernelFile.read("\(folder)/\(file)").flatMap { UInt64($0.filter(\.isNumber)) }
  }

  /// Whether the child cgroup has the controller of memory. In version 2 its parent must pass it on, which a cgroup with
  /// processes cannot: if this one is delegated to the program, its processes move to another child.
  fileprivate func givesMemory(to child: MemoryCgroup) -> Bool {
    if isFirstVersion || access("\(child.folder)/\(child.limitFile)", F_OK) == 0 { return true }
    let control = "\(folder)/cgroup.subtree_control"
    if KernelFile.write("+memory", to: control) { return true }
    guard isDelegated else { return false }
    let leaf = "\(folder)/service"
    guard mkdir(leaf, 0o755) == 0 || errno == EEXIST else { return false }
    for process in processes where !KernelFile.write("\(process)", to: "\(leaf)/cgroup.procs") { return false }
    return KernelFile.write("+memory", to: control)
  }

  /// Whether the manager of the machine leaves the cgroup to this program: it belongs to the user, or systemd has marked
  /// it (systemd.resource-control(5), `Delegate=`).
  package var isDelegated: Bool {
    if geteuid() != 0 { return access("\(folder)/cgroup.procs", W_OK) == 0 }
    return csystem_has_attribute(folder, "user.delegate", CChar(UInt8(ascii: "1"))) != 0
  }
}
