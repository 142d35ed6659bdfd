import Glibc
import Testing

@testable import Platform

@Suite("What is told of processes")
struct ProcessEvidenceTests {
  private static let mounts = """
    30 25 0:26 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw
    33 25 0:29 / /sys/fs/cgroup/cpu rw,relatime shared:15 - cgroup cgroup rw,cpu
    36 25 0:32 / /sys/fs/cgroup/memory rw,relatime shared:18 - cgroup cgroup rw,memory
    """
  private static let second = "26 24 0:23 / /sys/fs/cgroup rw,relatime shared:4 - cgroup2 cgroup2 rw"
  private static let container = "36 25 0:32 /docker/abc /sys/fs/cgroup/memory ro,relatime - cgroup cgroup rw,memory"

  @Test(
    "the cgroup that limits a process's memory is found in both versions, and in a container's part of a hierarchy",
    arguments: [
      ("9:name=systemd:/\n4:memory:/a/b\n0::/", mounts, "/sys/fs/cgroup/memory/a/b"),
      ("4:cpu,memory:/\n0::/x", mounts, "/sys/fs/cgroup/memory"),
      ("0::/user.slice/take5.service", second, "/sys/fs/cgroup/user.slice/take5.service"),
      ("0::/", second, "/sys/fs/cgroup"),
      ("4:memory:/docker/abc/inner", container, "/sys/fs/cgroup/memory/inner"),
    ])
  func cgroups(_ memberships: String, _ mounts: String, _ folder: String) {
    #expect(MemoryCgroup(memberships: memberships, mounts: mounts)?.folder == folder)
  }

  @Test("where nothing limits memory there is none")
  func noCgroup() {
    #expect(MemoryCgroup(memberships: "1:cpu:/", mounts: Self.mounts) == nil)
    #expect(MemoryCgroup(memberships: "0::/", mounts: "") == nil)
  }

  @Test("kills for want of memory are counted in both versions' files")
  func kills() {
    #expect(MemoryCgroup.outOfMemoryKills(in: "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n") == 3)
    #expect(MemoryCgroup.outOfMemoryKills(in: "low 0\nhigh 0\nmax 9\noom 2\noom_kill 1\n") == 1)
    #expect(MemoryCgroup.outOfMemoryKills(in: "low 0\n") == nil)
  }

  @Test("a process's state and processor time are read past a name that holds anything")
  func activity() throws {
    let fields = (0..<40).map { $0 == 10 ? "250" : $0 == 11 ? "50" : "0" }.joined(separator: " ")
    let activity = try #require(ProcessActivity(stat: "17 (a) S ) T \(fields)"))
    #expect(activity.states == ["T"])
    #expect(activity.processorSeconds == 300 / Double(sysconf(Int32(_SC_CLK_TCK))))
    #expect(try #require(ProcessActivity(of: getpid())).states.contains("R"))
    #expect(ProcessActivity(of: 0) == nil)
  }
}
