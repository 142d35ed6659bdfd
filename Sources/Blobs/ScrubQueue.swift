package import Crypto
import Platform

/// Blobs that wait to be read to their ends, because they were served or something speaks against them.
///
/// Offering one costs a lock and a lookup, and nobody ever waits: what it has no room for is dropped.
package final class ScrubQueue: Sendable {
  /// A blob that is to be read.
  package struct Item: Sendable, Hashable {
    package let hash: SHA256Digest
    /// The length that it should have.
    package let bytes: Int64
  }

  private struct State {
    var items: [Item] = []
    var waiting: Set<SHA256Digest> = []
    var recent: RecentlyOffered
    var isClosed = false
  }

  private let capacity: Int
  private let state: Locked<State>
  private let wake = WakeUp()

  /// - Parameters:
  ///   - capacity: the most that wait.
  ///   - interval: for so long a blob that was offered is not taken again, unless something speaks against it.
  package init(capacity: Int = 256, interval: Duration = .seconds(3600)) {
    self.capacity = capacity
    state = Locked(State(recent: RecentlyOffered(interval: interval, most: 1 << 15, now: .now)))
  }

  /// Lets a blob be read at some time.
  ///
  /// - Parameter isSuspect: whether something speaks against it.
  package func offer(_ hash: SHA256Digest, bytes: Int64, isSuspect: Bool = false) {
    let isTaken = state.withLock { state in
      guard !state.isClosed, state.items.count < capacity, isSuspect || !state.recent.note(hash, now: .now),
        state.waiting.insert(hash).inserted
      else { return false }
      state.items.append(Item(hash: hash, bytes: bytes))
      return true
    }
    if isTaken { wake.raise() }
  }

  /// The blob that has waited longest; one is waited for. Nil once the queue is closed; one loop at a time may take.
  package func take() async -> Item? {
    while true {
      let (item, isClosed) = state.withLock { state -> (Item?, Bool) in
        guard !state.isClosed, !state.items.isEmpty else { return (nil, state.isClosed) }
        let item = state.items.removeFirst()
        state.waiting.remove(item.hash)
        return (item, false)
      }
      if isClosed { return nil }
      if let item { return item }
      await wake.wait(atMost: .seconds(3600))
    }
  }

  /// Ends it: what waits is given up.
  package func close() {
    state.withLock { $0.isClosed = true }
    wake.raise()
  }
}
