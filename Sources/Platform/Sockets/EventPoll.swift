internal import CSystem
import Glibc

/// Waits for events on many descriptors (epoll(7)); closing a descriptor removes it.
package struct EventPoll: ~Copyable, Sendable {
  /// The events to wait for, or the events that occurred.
  package struct Condition: OptionSet, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let readable = Condition(rawValue: UInt32(CSYSTEM_READABLE))
    package static let writable = Condition(rawValue: UInt32(CSYSTEM_WRITABLE))
    /// The peer has finished sending.
    package static let finished = Condition(rawValue: UInt32(CSYSTEM_FINISHED))
    /// The connection is closed in both directions; it is reported in any case.
    package static let broken = Condition(rawValue: UInt32(CSYSTEM_BROKEN))
  }

  private let descriptor: Descriptor

  package init() throws(SystemError) {
    let number = csystem_poll_open()
    guard number >= 0 else { throw SystemError(call: "epoll_create1") }
    descriptor = Descriptor(owning: number)
  }

  /// Adds a descriptor under a key.
  package borrowing func add(_ number: Int32, key: UInt64, for conditions: Condition) throws(SystemError) {
    guard csystem_poll_set(descriptor.number, number, key, conditions.rawValue, 1) == 0 else {
      throw SystemError(call: "epoll_ctl")
    }
  }

  /// Changes the events of a descriptor.
  package borrowing func change(_ number: Int32, key: UInt64, to conditions: Condition) throws(SystemError) {
    guard csystem_poll_set(descriptor.number, number, key, conditions.rawValue, 0) == 0 else {
      throw SystemError(call: "epoll_ctl")
    }
  }

  /// Removes a descriptor, which stays open.
  package borrowing func remove(_ number: Int32) { csystem_poll_remove(descriptor.number, number) }

  /// Waits until descriptors are ready or the time has passed; nil: no limit. Returns some of the ready descriptors.
  package borrowing func wait(for duration: Duration?) -> [(key: UInt64, found: Condition)] {
    var milliseconds: Int32 = -1
    if let duration {
      let (seconds, attoseconds) = duration.components
      // Rounded up: rounding down would turn the last millisecond into a busy loop.
      milliseconds = Int32(
        clamping: max(0, seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000))
    }
    return withUnsafeTemporaryAllocation(of: csystem_ready.self, capacity: 256) { ready in
      let count = csystem_poll_wait(descriptor.number, ready.baseAddress, Int32(ready.count), milliseconds)
      return ready.prefix(max(0, Int(count))).map { ($0.key, Condition(rawValue: $0.state)) }
    }
  }
}

/// A flag that threads can wait for together with other descriptors (eventfd(2)).
package struct Event: ~Copyable, Sendable {
  private let descriptor: Descriptor

  package init() throws(SystemError) {
    let number = csystem_event()
    guard number >= 0 else { throw SystemError(call: "eventfd") }
    descriptor = Descriptor(owning: number)
  }

  /// The descriptor, readable while the event is set.
  package var number: Int32 { descriptor.number }

  /// Sets the event: all waits return until it is cleared.
  package borrowing func signal() {
    var one: UInt64 = 1
    _ = write(number, &one, MemoryLayout<UInt64>.size)
  }

  /// Clears the event.
  package borrowing func clear() {
    var count: UInt64 = 0
    _ = read(number, &count, MemoryLayout<UInt64>.size)
  }

  /// Waits until the event is set; false if `duration` passes first; nil: no limit.
  @discardableResult
  package borrowing func wait(for duration: Duration? = nil) -> Bool {
    let limit = duration.map { ContinuousClock.now + $0 }
    while true {
      var milliseconds: Int32 = -1
      if let limit {
        let rest = max(limit - ContinuousClock.now, .zero)
        milliseconds = Int32(
          clamping: rest.components.seconds * 1000 + rest.components.attoseconds / 1_000_000_000_000_000)
      }
      var request = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
      let ready = poll(&request, 1, milliseconds)
      if ready > 0 { return true }
      if let limit, ContinuousClock.now >= limit { return false }
    }
  }
}
