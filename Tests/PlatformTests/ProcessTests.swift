import Glibc
import Testing

@testable import Platform

@Suite("Processes")
struct ProcessTests {
  private static let mounts = """
    30 25 0:26 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw
    33 25 0:29 / /sys/fs/cgroup/cpu rw,relatime shared:15 - cgroup cgroup rw,cpu
    36 25 0:32 / /sys/fs/cgroup/memory rw,relatime shared:18 - cgroup cgroup rw,memory
    """
  private static let unified = "26 24 0:23 / /sys/fs/cgroup rw,relatime shared:4 - cgroup2 cgroup2 rw"
  private static let container = "36 25 0:32 /docker/abc /sys/fs/cgroup/memory ro,relatime - cgroup cgroup rw,memory"

  @Test(
    "the memory cgroup is found in both versions, and below the root of a container's mount",
    arguments: [
      ("9:name=systemd:/\n4:memory:/a/b\n0::/", mounts, "/sys/fs/cgroup/memory/a/b"),
      ("4:cpu,memory:/\n0::/x", mounts, "/sys/fs/cgroup/memory"),
      ("0::/user.slice/take5.service", unified, "/sys/fs/cgroup/user.slice/take5.service"),
      ("0::/", unified, "/sys/fs/cgroup"),
      ("4:memory:/docker/abc/inner", container, "/sys/fs/cgroup/memory/inner"),
    ])
  func cgroups(_ memberships: String, _ mounts: String, _ folder: String) {
    #expect(MemoryCgroup(memberships: memberships, mounts: mounts)?.folder == folder)
  }

  @Test("without a memory controller there is no memory cgroup")
  func noCgroup() {
    #expect(MemoryCgroup(memberships: "1:cpu:/", mounts: Self.mounts) == nil)
    #expect(MemoryCgroup(memberships: "0::/", mounts: "") == nil)
  }

  @Test("OOM kills are read in the files of both versions")
  func kills() {
    #expect(MemoryCgroup.outOfMemoryKills(in: "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n") == 3)
    #expect(MemoryCgroup.outOfMemoryKills(in: "low 0\nhigh 0\nmax 9\noom 2\noom_kill 1\n") == 1)
    #expect(MemoryCgroup.outOfMemoryKills(in: "low 0\n") == nil)
  }

  @Test("state and CPU time are read after a name with any characters")
  func activity() throws {
    let fields = (0..<40).map { $0 == 10 ? "250" : $0 == 11 ? "50" : "0" }.joined(separator: " ")
    let activity = try #require(ProcessActivity(stat: "17 (a) S ) T \(fields)"))
    #expect(activity.states == ["T"])
    #expect(activity.processorSeconds == 300 / Double(sysconf(Int32(_SC_CLK_TCK))))
    #expect(try #require(ProcessActivity(of: getpid())).states.contains("R"))
    #expect(ProcessActivity(of: 0) == nil)
  }

  @Test("the limit of open files is raised to the hard limit")
  func openFilesLimit() throws {
    ThisProcess.raiseOpenFilesLimit()
    let limits = try Descriptor(reading: "/proc/self/limits").bytes(count: 4096, at: 0)
    let line = try #require(
      String(decoding: limits, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("Max open files") })
    let fields = line.split(separator: " ")
    #expect(fields[3] == fields[4])
  }
}
