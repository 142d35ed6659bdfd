internal import CSystem
import Glibc

/// Watches many descriptors at once from one thread (epoll(7)); a descriptor that is closed is watched no longer.
package struct EventPoll: ~Copyable, Sendable {
  /// What a descriptor is watched for, and what it is found to be.
  package struct Condition: OptionSet, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let readable = Condition(rawValue: UInt32(CSYSTEM_READABLE))
    package static let writable = Condition(rawValue: UInt32(CSYSTEM_WRITABLE))
    /// The peer has finished sending.
    package static let finished = Condition(rawValue: UInt32(CSYSTEM_FINISHED))
    /// The connection is over in both directions; it is found whatever is watched for.
    package static let broken = Condition(rawValue: UInt32(CSYSTEM_BROKEN))
  }

  private let descriptor: Descriptor

  package init() throws(SystemError) {
    let number = csystem_poll_open()
    guard number >= 0 else { throw SystemError(call: "epoll_create1") }
    descriptor = Descriptor(owning: number)
  }

  /// Begins to watch a descriptor under a key.
  package borrowing func add(_ number: Int32, key: UInt64, for conditions: Condition) throws(SystemError) {
    guard csystem_poll_set(descriptor.number, number, key, conditions.rawValue, 1) == 0 else {
      throw SystemError(call: "epoll_ctl")
    }
  }

  /// Watches a descriptor for something else from now on.
  package borrowing func change(_ number: Int32, key: UInt64, to conditions: Condition) throws(SystemError) {
    guard csystem_poll_set(descriptor.number, number, key, conditions.rawValue, 0) == 0 else {
      throw SystemError(call: "epoll_ctl")
    }
  }

  /// Watches a descriptor no longer, which stays open.
  package borrowing func remove(_ number: Int32) { csystem_poll_remove(descriptor.number, number) }

  /// Waits until descriptors are ready or the time has passed; nil waits for ever. Some of those that are ready.
  package borrowing func wait(for duration: Duration?) -> [(key: UInt64, found: Condition)] {
    var milliseconds: Int32 = -1
    if let duration {
      let (seconds, attoseconds) = duration.components
      // Rounded up: the rest of a millisecond would be waited for in a busy loop.
      milliseconds = Int32(
        clamping: max(0, seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000))
    }
    return withUnsafeTemporaryAllocation(of: csystem_ready.self, capacity: 256) { ready in
      let count = csystem_poll_wait(descriptor.number, ready.baseAddress, Int32(ready.count), milliseconds)
      return ready.prefix(max(0, Int(count))).map { ($0.key, Condition(rawValue: $0.state)) }
    }
  }
}
