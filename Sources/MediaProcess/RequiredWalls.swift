import Glibc

/// The rules by which a program judges the walls that it measured.
extension WallReport {
  /// Whether `--sandbox required` accepts that the wall is down: a cgroup, which only a system manager can permit and
  /// without which the limits hold, and Landlock where the kernel has none, because the mount namespace hides every
  /// file without it.
  package var isOptional: Bool {
    switch wall {
    case .cgroup: true
    case .landlock: Self.absences.contains { detail.contains($0) }
    case .user, .capabilities, .noNewPrivileges, .mounts, .network, .processes, .ipc, .hostname, .seccomp, .notDumpable,
      .limits:
      false
    }
  }

  /// The detail of Landlock on a kernel without it.
  package static let noLandlock = "the kernel has no Landlock"

  // Also the text of ENOSYS, by which such a kernel refuses landlock_create_ruleset(2). A kernel that was booted without
  // Landlock refuses it with EOPNOTSUPP: its boot parameters can be changed.
  private static let absences = [noLandlock, String(cString: strerror(ENOSYS))]
}

extension [WallReport] {
  /// The walls that are down although `--sandbox required` requires them.
  package var missing: [WallReport] { filter { !$0.isUp && !$0.isOptional } }

  /// Whether nothing but limits separates the media process from the machine.
  package var isOnlyLimits: Bool { allSatisfy { !$0.isUp || $0.wall == .limits } }
}
