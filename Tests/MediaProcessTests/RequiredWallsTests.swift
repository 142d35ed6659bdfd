import Glibc
import MediaProcess
import Testing

@Suite("Walls that --sandbox required requires")
struct RequiredWallsTests {
  private static func walls(down: [Wall: String]) -> [WallReport] {
    Wall.allCases.map { WallReport($0, isUp: down[$0] == nil, detail: down[$0] ?? "measured") }
  }

  @Test("a wall that is down is missing", arguments: Wall.allCases.filter { $0 != .cgroup })
  func missing(wall: Wall) {
    let walls = Self.walls(down: [wall: "unshare: Operation not permitted"])
    #expect(walls.missing.map(\.wall) == [wall])
  }

  @Test("a cgroup is never missing, and several walls are missing in their order")
  func cgroup() {
    #expect(Self.walls(down: [.cgroup: "mkdir: Permission denied"]).missing.isEmpty)
    let walls = Self.walls(down: [.seccomp: "no libseccomp", .user: "unshare: EPERM", .cgroup: "read-only"])
    #expect(walls.missing.map(\.wall) == [.user, .seccomp])
    #expect(Self.walls(down: [:]).missing.isEmpty)
  }

  @Test("Landlock is missing only on a kernel that has it")
  func landlock() {
    let absent = [WallReport.noLandlock, "landlock_create_ruleset: \(String(cString: strerror(ENOSYS)))"]
    for detail in absent { #expect(Self.walls(down: [.landlock: detail]).missing.isEmpty, "\(detail)") }
    let disabled = "landlock_create_ruleset: \(String(cString: strerror(EOPNOTSUPP)))"
    #expect(Self.walls(down: [.landlock: disabled]).missing.map(\.wall) == [.landlock])
    // The same words about another wall excuse nothing.
    #expect(Self.walls(down: [.seccomp: absent[1]]).missing.map(\.wall) == [.seccomp])
  }

  @Test("limits alone are no walls")
  func onlyLimits() {
    let limits = Dictionary(Wall.allCases.filter { $0 != .limits }.map { ($0, "off") }) { first, _ in first }
    #expect(Self.walls(down: limits).isOnlyLimits)
    var one = limits
    one[.seccomp] = nil
    #expect(!Self.walls(down: one).isOnlyLimits)
  }
}
