import Testing

@testable import Platform

@Suite("What control groups permit")
struct ControlGroupTests {
  @Test(
    "the lowest quota of a group and of those above it counts, rounded up, in both versions",
    arguments: [
      (["groups": "0::/\n"], Int(Int32.max)),
      (["groups": "0::/\n", "/sys/fs/cgroup/cpu.max": "150000 100000\n"], 2),
      (
        [
          "groups": "0::/a/b\n", "/sys/fs/cgroup/a/b/cpu.max": "max 100000\n",
          "/sys/fs/cgroup/a/cpu.max": "400000 100000\n",
        ], 4
      ),
      (
        ["groups": "0::/a\n", "/sys/fs/cgroup/a/cpu.max": "400000 100000", "/sys/fs/cgroup/cpu.max": "50000 100000"], 1
      ),
      (
        [
          "groups": "4:memory:/x\n3:cpu,cpuacct:/x\n", "/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_quota_us": "250000\n",
          "/sys/fs/cgroup/cpu,cpuacct/x/cpu.cfs_period_us": "100000\n",
        ], 3
      ),
      (
        [
          "groups": "3:cpu:/x\n", "/sys/fs/cgroup/cpu/x/cpu.cfs_quota_us": "-1\n",
          "/sys/fs/cgroup/cpu/x/cpu.cfs_period_us": "100000\n",
        ], Int(Int32.max)
      ),
      (["groups": "garbage\n0::/\n", "/sys/fs/cgroup/cpu.max": "100000 0\n"], Int(Int32.max)), ([:], Int(Int32.max)),
    ] as [([String: String], Int)])
  func processors(files: [String: String], count: Int) {
    #expect(ControlGroup.processors(of: "groups") { files[$0] } == count)
  }

  @Test("a process has at least one processor, and no more than are online")
  func here() { #expect((1...1024).contains(ThisProcess.processors)) }
}
