internal import CSystem
import Glibc

/// A child that was started with exactly what it was given, and is killed and reaped by its owner.
package struct ChildProcess: ~Copyable, Sendable {
  /// The process id, valid until the child is waited for.
  package let id: Int32

  /// How a child ended.
  package enum Ending: Sendable, Hashable {
    case exited(Int32)
    case killed(signal: Int32)
  }

  /// What a child gets; nothing else is inherited.
  package struct Configuration: Sendable {
    package var path: String
    package var arguments: [String]
    package var environment: [String: String] = [:]
    package var directory: String?
    /// Descriptor i of the child is `descriptors[i]`; nil is /dev/null.
    package var descriptors: [Int32?] = [nil, nil, 2]
    /// The user to become, by id.
    package var user: (user: UInt32, group: UInt32)?
    /// What the child is sent when the thread that started it ends.
    package var parentDeathSignal: Int32 = SIGKILL
    /// In bytes; nil: the parent's.
    package var addressSpaceLimit: UInt64?
    package var cpuSecondsLimit: UInt64?
    package var fileSizeLimit: UInt64?
    package var openFilesLimit: UInt64?
    package var noNewPrivileges = true
    /// Whether it gets a session of its own, so that the terminal's Ctrl-C is the owner's to pass on.
    package var newSession = false
    /// Whether it has only the processor time that nobody else wants.
    package var isIdle = false

    /// - Parameters:
    ///   - path: the program.
    ///   - arguments: without the program's name.
    package init(path: String, arguments: [String]) {
      self.path = path
      self.arguments = arguments
    }
  }

  /// Starts the child; throws what `exec` said if the program could not be started.
  ///
  /// The parent death signal fires when the calling *thread* ends: call from one that lives as long as the child.
  package init(_ configuration: Configuration) throws(SystemError) {
    var arguments: [UnsafeMutablePointer<CChar>?] = ([configuration.path] + configuration.arguments).map { strdup($0) }
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
      child.address_space_limit = configuration.addressSpaceLimit ?? 0
      child.cpu_seconds_limit = configuration.cpuSecondsLimit ?? 0
      child.file_size_limit = configuration.fileSizeLimit ?? 0
      child.open_files_limit = configuration.openFilesLimit ?? 0
      child.no_new_privileges = configuration.noNewPrivileges ? 1 : 0
      child.new_session = configuration.newSession ? 1 : 0
      child.idle = configuration.isIdle ? 1 : 0
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

  /// Sends a signal; a child that has ended already is no error.
  package borrowing func send(signal: Int32) { _ = kill(id, signal) }

  /// Waits for the end and takes the child's entry out of the process table.
  package consuming func wait() -> Ending {
    var status: Int32 = 0
    while waitpid(id, &status, 0) < 0 && errno == EINTR {}
    discard self
    return Self.ending(of: status)
  }

  // No owner may forget its child: it is killed and reaped.
  deinit {
    _ = kill(id, SIGKILL)
    var status: Int32 = 0
    while waitpid(id, &status, 0) < 0 && errno == EINTR {}
  }

  // The macros of wait(2), which Swift does not import.
  private static func ending(of status: Int32) -> Ending {
    let signal = status & 0x7F
    return signal == 0 ? .exited((status >> 8) & 0xFF) : .killed(signal: signal)
  }
}
