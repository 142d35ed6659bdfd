internal import CSandbox
import Glibc
import MediaProcess
import Platform

/// The walls around the children of a fork server: it builds some for itself, which its children
/// inherit, and each child adds others.
struct Confinement {
  private(set) var reports: [WallReport] = []
  private var filter: csandbox_filter?
  /// Whether the children are in a PID namespace, in which they do not see the server.
  private var hasProcessNamespace = false
  /// The walls that each child adds, in this order: a filter that stands forbids the calls of the others.
  private var childWalls: [Wall] = [.limits]

  /// The threads and processes of a child.
  private static let maxProcesses: UInt64 = 64
  private static let maxDescriptors: UInt64 = 64

  /// Builds the walls of this process, which has one thread and has read no media, and tests the walls of a child.
  init(_ settings: ServerSettings) {
    guard settings.isConfined else {
      let missing = Wall.allCases.filter { $0 != .limits && $0 != .cgroup }
      reports = missing.map { WallReport($0, isUp: false, detail: WallReport.switchedOff) }
      testChild()
      return
    }
    buildNamespaces(user: settings.user)
    report(.capabilities, csandbox_drop_capabilities(), "none")
    report(.noNewPrivileges, csandbox_deny_new_privileges(), "set")
    report(.notDumpable, csandbox_deny_dumps(), "set")
    childWalls += [.landlock, .seccomp]
    testChild()
  }

  private mutating func report(_ wall: Wall, _ failure: Int32, _ detail: String) {
    reports.append(
      WallReport(wall, isUp: failure == 0, detail: failure == 0 ? detail : String(cString: strerror(failure))))
  }

  private func isUp(_ wall: Wall) -> Bool { reports.contains { $0.wall == wall && $0.isUp } }
}

extension Confinement {
  private static let namespaces: [(wall: Wall, kind: csandbox_namespace, file: String)] = [
    (.mounts, CSANDBOX_MOUNTS, "mnt"), (.network, CSANDBOX_NETWORK, "net"), (.ipc, CSANDBOX_IPC, "ipc"),
    (.hostname, CSANDBOX_HOSTNAME, "uts"), (.processes, CSANDBOX_PROCESSES, "pid_for_children"),
  ]

  /// Root makes the namespaces and becomes another user; an ordinary user, or a root without the capability, makes them in
  /// a user namespace.
  private mutating func buildNamespaces(user: UInt32) {
    var failures = [Int32](repeating: EPERM, count: Self.namespaces.count)
    if geteuid() == 0 {
      failures = Self.namespaces.map { csandbox_unshare($0.kind) }
      let isPrivileged = failures.contains(0)
      if isPrivileged { enter(failures) }
      // A container that maps few users has this user at least.
      let users = [user, 65534]
      let failure = users.lazy.map { csandbox_set_user($0, $0) }.first { $0 == 0 }
      report(.user, failure ?? EPERM, "uid \(geteuid())")
      if isPrivileged { return startInit() }
    }
    let (outer, group) = (geteuid(), getegid())
    var failure = csandbox_unshare(CSANDBOX_USER)
    if failure == 0 { failure = csandbox_map_user(outer, group) }
    if !isUp(.user) {
      reports.removeAll { $0.wall == .user }
      report(.user, failure, Self.link("user"))
    }
    if failure == 0 { failures = Self.namespaces.map { csandbox_unshare($0.kind) } }
    enter(failures)
    startInit()
  }

  /// Reports the namespaces, and makes the mount namespace empty.
  private mutating func enter(_ failures: [Int32]) {
    var failures = failures
    let links = Self.namespaces.map { Self.link($0.file) }
    if let mounts = Self.namespaces.firstIndex(where: { $0.wall == .mounts }), failures[mounts] == 0 {
      failures[mounts] = csandbox_empty_root()
    }
    for (index, namespace) in Self.namespaces.enumerated() { report(namespace.wall, failures[index], links[index]) }
  }

  // The user has changed before: the kernel checks that the server may kill the init when it ends.
  private mutating func startInit() {
    guard let index = reports.firstIndex(where: { $0.wall == .processes }), reports[index].isUp else { return }
    let failure = csandbox_start_init()
    hasProcessNamespace = failure == 0
    guard failure != 0 else { return }
    reports[index] = WallReport(.processes, isUp: false, detail: String(cString: strerror(failure)))
  }

  /// The identity of a namespace of this process (namespaces(7)).
  private static func link(_ file: String) -> String {
    var text = [CChar](repeating: 0, count: 64)
    let count = readlink("/proc/self/ns/\(file)", &text, text.count - 1)
    return count > 0 ? String(decoding: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self) : "new"
  }
}

extension Confinement {
  /// Starts a child that builds its walls and reports each, so that later children need not.
  private mutating func testChild() {
    var made = csandbox_filter()
    let filterFailure = childWalls.contains(.seccomp) ? csandbox_make_filter(&made) : 0
    if filterFailure == 0 { filter = made }
    let failures = Self.inChild { [self] in
      let limits = MediaCrash.Limits(memory: 1 << 40, cpuSeconds: 60, fileSize: 1 << 40, deadlineSeconds: 60)
      return childWalls.map { wall in
        wall == .seccomp && filterFailure != 0 ? filterFailure : build(wall, limits)
      }
    }
    for (index, wall) in childWalls.enumerated() {
      let detail =
        switch wall {
        case .landlock: "version \(csandbox_landlock_version())"
        case .seccomp: "\(made.count) instructions"
        default:
          "memory, CPU time, file size, \(Self.maxDescriptors) descriptors"
            + (isUp(.user) ? ", \(Self.maxProcesses) threads" : "")
        }
      report(wall, index < failures.count ? failures[index] : EPROTO, detail)
    }
    let missing = childWalls.filter { !isUp($0) }
    childWalls.removeAll { missing.contains($0) }
  }

  /// Calls `body` in a child, and returns what it returned; empty if the child ended before.
  private static func inChild(_ body: () -> [Int32]) -> [Int32] {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return [] }
    let child = csandbox_fork()
    if child == 0 {
      let failures = body()
      _ = failures.withUnsafeBytes { write(ends[1], $0.baseAddress, $0.count) }
      _exit(0)
    }
    close(ends[1])
    var failures = [Int32](repeating: 0, count: Wall.allCases.count)
    let count = failures.withUnsafeMutableBytes { read(ends[0], $0.baseAddress, $0.count) }
    close(ends[0])
    if child > 0 { waitpid(child, nil, 0) }
    return Array(failures.prefix(max(0, count) / MemoryLayout<Int32>.size))
  }

  /// Builds the walls of this process, a child of the server; false if one cannot be built.
  func enter(limits: MediaCrash.Limits, server: Int32) -> Bool {
    csandbox_die_with_parent(hasProcessNamespace ? 0 : server) == 0
      && childWalls.allSatisfy { build($0, limits) == 0 }
  }

  private func build(_ wall: Wall, _ limits: MediaCrash.Limits) -> Int32 {
    switch wall {
    case .limits:
      var values = csandbox_limits(
        memory: limits.memory, cpu_seconds: limits.cpuSeconds, file_size: limits.fileSize,
        // Without a user of its own, the processes of the service's user would count.
        processes: isUp(.user) ? Self.maxProcesses : 0, descriptors: Self.maxDescriptors)
      return csandbox_set_limits(&values)
    case .landlock: return csandbox_enter_landlock()
    case .seccomp:
      guard var filter else { return ENOSYS }
      return csandbox_apply_filter(&filter)
    default: return 0
    }
  }

  /// Whether the children share the standard error output of the service.
  var hasErrorOutput: Bool { !isUp(.seccomp) }
}
