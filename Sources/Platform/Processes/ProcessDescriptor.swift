internal import CSystem

/// A descriptor of a process, which stays valid when the process has ended and its id is used again (pidfd_open(2)).
package struct ProcessDescriptor: ~Copyable, Sendable {
  private let descriptor: Descriptor

  /// Takes ownership of an open descriptor.
  package init(owning number: Int32) { descriptor = Descriptor(owning: number) }

  /// Kills the process; it is not an error if it has ended.
  package borrowing func kill() { csystem_kill_process(descriptor.number) }
}
