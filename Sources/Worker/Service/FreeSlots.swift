import MediaProcess
import Platform

/// The slots that no job is in.
final class FreeSlots: Sendable {
  private let slots: Locked<[MediaSlot]>

  init(_ slots: [MediaSlot]) { self.slots = Locked(slots) }

  /// How many there are.
  var count: Int { slots.withLock { $0.count } }

  /// Takes one; nil if there is none.
  func take() -> MediaSlot? { slots.withLock { $0.popLast() } }

  /// Gives one back.
  func add(_ slot: MediaSlot) { slots.withLock { $0.append(slot) } }
}
