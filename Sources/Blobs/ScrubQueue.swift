package import Crypto
import Glibc
package import Platform

/// A bounded queue of blobs to scrub, because they were served or are suspected to be damaged.
///
/// Offering a blob costs a lock and a lookup and never waits: if the queue is full, the blob is dropped.
package final class ScrubQueue: Sendable {
  /// A blob to scrub.
  package struct Item: Sendable, Hashable {
    package let hash: SHA256Digest
    /// The expected length.
    package let bytes: Int64
    /// Whether the blob is suspected to be damaged: a copy on this machine then says nothing.
    package var isSuspect = false
  }

  private struct State {
    var items: [Item] = []
    var waiting: Set<SHA256Digest> = []
    var recent: RecentSet<SHA256Digest>
    var isClosed = false
  }

  private let capacity: Int
  private let state: Locked<State>
  private let wake = WakeUp()

  /// - Parameters:
  ///   - capacity: the maximum number of waiting blobs.
  ///   - interval: the time during which a blob is not enqueued again, unless it is suspect.
  package init(capacity: Int = 256, interval: Duration = .seconds(3600)) {
    self.capacity = capacity
    state = Locked(State(recent: RecentSet(interval: interval, now: .now)))
  }

  /// Enqueues a blob, unless the queue is full or closed, or the blob was offered lately.
  ///
  /// - Parameter isSuspect: whether the blob is suspected to be damaged.
  package func offer(_ hash: SHA256Digest, bytes: Int64, isSuspect: Bool = false) {
    let isEnqueued = state.withLock { state in
      guard !state.isClosed, state.items.count < capacity, isSuspect || !state.recent.note(hash, now: .now),
        state.waiting.insert(hash).inserted
      else { return false }
      state.items.append(Item(hash: hash, bytes: bytes, isSuspect: isSuspect))
      return true
    }
    if isEnqueued { wake.raise() }
  }

  /// Dequeues the next blob, and waits for one; nil once the queue is closed. One task at a time may call it.
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

  /// Closes the queue and discards waiting blobs.
  package func close() {
    state.withLock { $0.isClosed = true }
    wake.raise()
  }
}

/// The rate limit of reading blobs in the background.
package struct ReadRate: Sendable {
  private let bytesPerSecond: Int
  private let stop: CancellationFlag

  /// - Parameters:
  ///   - bytesPerSecond: the maximum average over a file.
  ///   - stop: reading fails with `ECANCELED` once it is raised.
  package init(bytesPerSecond: Int, until stop: CancellationFlag) {
    self.bytesPerSecond = bytesPerSecond
    self.stop = stop
  }

  /// The digest of a file; the calling thread sleeps between reads to keep the rate.
  package func digest(of file: borrowing Descriptor) throws(SystemError) -> SHA256Digest {
    var hasher = SHA256()
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 64)
    defer { buffer.deallocate() }
    let start = ContinuousClock.now
    var offset: Int64 = 0
    while true {
      if stop.isCancelled { throw SystemError(call: "pread", code: ECANCELED) }
      let count = try file.read(into: buffer, at: offset)
      if count == 0 { return hasher.finalize() }
      hasher.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      offset += Int64(count)
      let ahead = Double(offset) / Double(bytesPerSecond) - start.duration(to: .now) / .seconds(1)
      if ahead > 0 { usleep(UInt32(min(ahead, 0.5) * 1e6)) }
    }
  }
}
