internal import CSystem
import Glibc

/// A child process that inherits only what its configuration names; its owner kills and reaps it.
package struct ChildProcess: ~Copyable, Sendable {
  /// The process id, valid until the child is reaped.
  package let id: Int32

  /// The end of a child.
  package enum Ending: Sendable, Hashable {
    case exited(Int32)
    case killed(signal: Int32)

    /// - Parameter status: of wait(2), whose macros Swift does not import.
    package init(status: Int32) {
      let signal = status & 0x7F
      self = signal == 0 ? .exited((status >> 8) & 0xFF) : .killed(signal: signal)
    }
  }

  /// The environment of a child; nothing else is inherited.
  package struct Configuration: Sendable {
    package var path: String
    package var arguments: [String]
    /// The first argument, by which `ps` lists the process; nil: the path.
    package var name: String?
    package var environment: [String: String] = [:]
    package var directory: String?
    /// Descriptor i of the child is `descriptors[i]`; nil: /dev/null.
    package var descriptors: [Int32?] = [nil, nil, 2]
    /// The user and group ids of the child; nil: the parent's.
    package var user: (user: UInt32, group: UInt32)?
    /// The signal to the child when the thread that started it ends.
    package var parentDeathSignal: Int32 = SIGKILL
    package var noNewPrivileges = true
    /// Whether the child starts a session, so that Ctrl-C in the terminal reaches only the parent.
    package var newSession = false
    package var priority = ProcessPriority.normal

    /// - Parameters:
    ///   - path: the program.
    ///   - arguments: the arguments without the program's name.
    package init(path: String, arguments: [String]) {
      self.path = path
      self.arguments = arguments
    }
  }

  /// Starts the child; throws the error of `exec` if the program cannot be started.
  ///
  /// The kernel sends the parent death signal when the calling *thread* ends: call it from one that outlives the child.
  package init(_ configuration: Configuration) throws(SystemError) {
    var arguments: [UnsafeMutablePointer<CChar>?] =
      ([configuration.name ?? configuration.path] + configuration.arguments).map { strdup($0) }
    var environment: [UnsafeMutablePointer<CChar>?] = configuration.environment.map { strdup("\($0.key)=\($0.value)") }
    arguments.append(nil)
    environment.append(nil)
    let path = strdup(configuration.path)
    let directory = configuration.directory.map { strdup($0) } ?? nil
    defer {
      for pointer in arguments + environment { free(pointer) }
      free(path)
      free(directory)
    }
    let descriptors = configuration.descriptors.map { $0 ?? -1 }
    var failure: Int32 = 0
    let id = descriptors.withUnsafeBufferPointer { descriptors in
      var child = csystem_child()
      child.path = UnsafePointer(path)
      child.directory = UnsafePointer(directory)
      child.descriptors = descriptors.baseAddress
      child.descriptor_count = Int32(descriptors.count)
      if let user = configuration.user {
        child.switches_user = 1
        child.user = user.user
        child.group = user.group
      }
      child.parent_death_signal = configuration.parentDeathSignal
      child.no_new_privileges = configuration.noNewPrivileges ? 1 : 0
      child.new_session = configuration.newSession ? 1 : 0
      child.nice = configuration.priority.rawValue
      return arguments.withUnsafeBufferPointer { arguments in
        environment.withUnsafeBufferPointer { environment in
          child.arguments = arguments.baseAddress
          child.environment = environment.baseAddress
          return csystem_spawn(&child, &failure)
        }
      }
    }
    guard id > 0 else { throw SystemError(call: "exec", code: failure, subject: configuration.path) }
    self.id = id
  }

  /// Sends a signal; it is not an error if the child has ended.
  package borrowing func send(signal: Int32) { _ = kill(id, signal) }

  /// Waits for the end of the child and reaps it.
  package consuming func wait() -> Ending {
    var status: Int32 = 0
    while waitpid(id, &status, 0) < 0 && errno == EINTR {}
    discard self
    return Ending(status: status)
  }

  // A child that its owner does not wait for is killed and reaped.
  deinit {
    _ = kill(id, SIGKILL)
    var status: Int32 = 0
    while waitpid(id, &status, 0) < 0 && errno == EINTR {}
  }
}

extension ChildProcess {
  /// Waits for the end of the child without reaping it, so that its id stays valid.
  package borrowing func waitForEnd() {
    var information = siginfo_t()
    while waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT) < 0 && errno == EINTR {}
  }

  /// Waits for the end of the child without reaping it; false if the limit passes first.
  package borrowing func waitForEnd(atMost limit: Duration) -> Bool {
    let end = ContinuousClock.now + limit
    while true {
      var information = siginfo_t()
      guard waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT | WNOHANG) == 0 else { return errno != EINTR }
      // While the child runs, `si_signo` is 0 (waitid(2)).
      if information.si_signo == SIGCHLD { return true }
      guard ContinuousClock.now < end else { return false }
      usleep(1_000)
    }
  }
}

/// The share of CPU time that a process gets where others want it too (sched(7)).
package enum ProcessPriority: Int32, Sendable {
  case normal = 0
  /// A tenth of what a normal process gets at the same time.
  case low = 10
  /// Only time that no other process uses.
  case idle = 20
}
