import Glibc
import MediaProcess
import Platform
import Telemetry
import Worker

/// The walls around the media processes of this program, as they were measured at its start.
struct Sandbox: Sendable {
  let mode: SandboxMode
  /// In the order of `Wall`.
  let walls: [WallReport]
  /// Whether a media process replied.
  private let isMeasured: Bool

  /// Status 78 if `--sandbox required` requires a wall that is down, or that could not be measured.
  init(_ mode: SandboxMode, _ measured: Result<[WallReport], MediaFailure>) throws(CommandFailure) {
    self.mode = mode
    let message: String
    switch measured {
    case .success(let walls):
      self.walls = walls
      isMeasured = true
      message = walls.missing.map { "\($0.wall.rawValue) is down: \($0.detail)" }.joined(separator: "; ")
    case .failure(let failure):
      message = "no wall could be measured: \(failure.detail)"
      walls = Wall.allCases.map { WallReport($0, isUp: false, detail: message) }
      isMeasured = false
    }
    guard mode != .required || message.isEmpty else {
      throw CommandFailure(
        .configuration, "--sandbox is required, and \(message)",
        remedy: "'take5 doctor' prints what each wall needs; --sandbox available does without the walls that are down")
    }
  }

  /// Measures the walls in a media process that ends afterwards. Status 78 as `init`.
  static func measured(_ configuration: MediaProcess.Configuration) async throws -> Sandbox {
    try Sandbox(configuration.sandbox, await measure(configuration))
  }

  /// Measures the walls in a media process that ends afterwards.
  static func measure(
    _ configuration: MediaProcess.Configuration
  ) async throws -> Result<[WallReport], MediaFailure> {
    let media = try MediaProcess(name: "media-walls", configuration: configuration)
    let measured = await measure(media, loading: .clips)
    await media.stop()
    return measured
  }

  private static func measure(
    _ media: MediaProcess, loading libraries: LibraryGroup
  ) async -> Result<[WallReport], MediaFailure> {
    do throws(MediaFailure) { return .success(try await media.walls(loading: libraries)) } catch {
      return .failure(error)
    }
  }

  /// Whether this program has no cgroup that it may divide because the unit of its service does not delegate one.
  ///
  /// A shell and a container have no such unit, and a kernel without the controller of memory has nothing to delegate: an
  /// administrator can do nothing about that.
  static var lacksDelegation: Bool {
    guard Environment.variables()["INVOCATION_ID"] != nil, let cgroup = MemoryCgroup(of: getpid()) else { return false }
    return !cgroup.isDelegated
  }

  /// Logs the walls that are down, and sets the metric of each wall.
  ///
  /// - Parameter lacksDelegation: whether the cgroup can be put up.
  func report(to log: Logger, _ metrics: Metrics, lacksDelegation: Bool = Sandbox.lacksDelegation) {
    for report in walls {
      metrics.set(
        "take5_sandbox_wall", "Whether a wall around media processes stood when this process started.",
        ["wall": report.wall.rawValue], report.isUp ? 1 : 0)
    }
    guard mode != .off else {
      return log.warning("media processes have no walls", ["sandbox": mode.rawValue, "remedy": Self.offRemedy])
    }
    for report in walls where !report.isUp {
      guard report.wall != .cgroup || lacksDelegation else {
        log.info("media processes have no cgroup of their own", ["reason": report.detail])
        continue
      }
      log.warning(
        "a wall around media processes is down",
        ["wall": report.wall.rawValue, "reason": report.detail, "remedy": report.wall.remedy])
    }
  }

  static let offRemedy = "use --sandbox off only for measurements and debugging"
}

/// The walls of a command that decodes media without a service.
extension Sandbox {
  /// Checks the walls around a media process, and prints a warning if it has none. Status 78 as `init`.
  ///
  /// - Parameter libraries: the ones that the command needs: a photo needs no library of clips.
  static func check(
    _ media: MediaProcess, _ mode: SandboxMode, loading libraries: LibraryGroup
  ) async throws(CommandFailure) {
    try Sandbox(mode, await measure(media, loading: libraries)).warn()
  }

  /// Checks the walls in a media process that ends afterwards.
  static func check(_ configuration: MediaProcess.Configuration) async throws {
    try await measured(configuration).warn()
  }

  private func warn() {
    if mode == .off {
      Console.note("take5: warning: media are decoded without walls\n       \(Self.offRemedy)")
    } else if isMeasured, walls.isOnlyLimits {
      Console.note("take5: warning: media are decoded without walls\n       'take5 doctor' prints what each wall needs")
    }
  }
}

extension Wall {
  /// What an operator does if the wall is down.
  var remedy: String {
    switch self {
    case .user, .capabilities, .mounts, .network, .processes, .ipc, .hostname:
      "permit user namespaces: sysctl user.max_user_namespaces and kernel.unprivileged_userns_clone, and in a "
        + "container the seccomp profile of docs/containers.md; or run take5 as root with CAP_SYS_ADMIN, CAP_SETUID "
        + "and CAP_SETPCAP"
    case .noNewPrivileges, .notDumpable: "use a kernel that permits prctl(2), and in a container its seccomp profile"
    case .landlock: "use Linux 5.13 or newer, booted with landlock in the parameter lsm"
    case .seccomp: "install libseccomp (Debian: libseccomp2), and use a kernel with seccomp filters"
    case .limits: "raise the hard limits of the process that starts take5 (ulimit -H)"
    case .cgroup: "let systemd delegate a cgroup (Delegate=yes), or make the cgroup of take5 writable for its user"
    }
  }
}

extension MediaProcess.Configuration {
  /// Reads the options of the media process, and opens its program before any work starts.
  init(_ arguments: Arguments) throws(CommandFailure) {
    self = try ServiceConfiguration([.mediaMemory, .sandbox], arguments).worker.media
    isPortable = arguments.has(Option.portable.name)
    try Self.openProgram()
  }

  /// Opens the program of media processes before any work starts.
  static func openProgram() throws(CommandFailure) {
    do throws(SystemError) { try MediaProcess.openProgram() } catch {
      throw CommandFailure(
        .io, "the program of media processes cannot be opened: \(error)",
        remedy: "install take5-media in the folder of take5, from the same build")
    }
  }
}
