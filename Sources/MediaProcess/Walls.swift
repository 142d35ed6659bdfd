/// A wall between the process that reads one job's media and the rest of the machine; `SECURITY.md` describes each.
package enum Wall: String, Codable, Sendable, CaseIterable {
  /// A user id that no other process has, or a user namespace of its own (user_namespaces(7)).
  case user
  /// No capabilities, and none to be had (capabilities(7)).
  case capabilities
  /// `no_new_privs` (prctl(2)): no program that it could start grants more.
  case noNewPrivileges = "no_new_privs"
  /// An empty mount namespace: there is no file to open (mount_namespaces(7)).
  case mounts
  /// A network namespace without interfaces (network_namespaces(7)).
  case network
  /// A PID namespace without other processes (pid_namespaces(7)).
  case processes = "pids"
  /// An IPC namespace (ipc_namespaces(7)).
  case ipc
  /// A UTS namespace: the name of the host is not visible (uts_namespaces(7)).
  case hostname = "uts"
  /// A Landlock domain without any right (landlock(7)).
  case landlock
  /// A filter of system calls (seccomp(2)).
  case seccomp
  /// Not dumpable, so that no process of the same user can trace it or read its memory (prctl(2)).
  case notDumpable = "not_dumpable"
  /// Limits of memory, CPU time, file size, processes and descriptors (getrlimit(2)).
  case limits
  /// A cgroup that holds only the media process and its child (cgroups(7)).
  case cgroup
}

/// A wall as it is on this machine.
package struct WallReport: Codable, Sendable, Hashable {
  package let wall: Wall
  /// Whether the wall stands.
  package let isUp: Bool
  /// The measured facts if the wall stands, otherwise the reason that it does not; a line of text.
  package let detail: String

  package init(_ wall: Wall, isUp: Bool, detail: String) {
    self.wall = wall
    self.isUp = isUp
    self.detail = detail
  }

  /// The detail of a wall that the configuration switches off.
  package static let switchedOff = "switched off"
}

/// What a program does about the walls of its media processes.
package enum SandboxMode: String, Codable, Sendable, CaseIterable {
  /// No walls but the limits; for measurements and debugging.
  case off
  /// Every wall that the machine permits, and a warning for each that it does not.
  case available
  /// The program ends if the machine does not permit a wall.
  case required
}
