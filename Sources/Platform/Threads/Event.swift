internal import CSystem
import Glibc

/// Something that happens once or again, for which threads wait beside other descriptors (eventfd(2)).
package struct Event: ~Copyable, Sendable {
  private let descriptor: Descriptor

  package init() throws(SystemError) {
    let number = csystem_event()
    guard number >= 0 else { throw SystemError(call: "eventfd") }
    descriptor = Descriptor(owning: number)
  }

  /// The descriptor, readable while the event has happened and was not cleared.
  package var number: Int32 { descriptor.number }

  /// Lets it have happened: everybody who waits, now or later, goes on until it is cleared.
  package borrowing func signal() {
    var one: UInt64 = 1
    _ = write(number, &one, MemoryLayout<UInt64>.size)
  }

  /// Lets it not have happened.
  package borrowing func clear() {
    var count: UInt64 = 0
    _ = read(number, &count, MemoryLayout<UInt64>.size)
  }

  /// Waits until it has happened; false when `duration` passes first, nil waits for ever.
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
