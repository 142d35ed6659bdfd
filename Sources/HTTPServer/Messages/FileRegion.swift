package import Platform

/// A region of an open file. The file stays open for the lifetime of the region, even if it is unlinked.
///
/// A network thread sends what the kernel has in memory. It waits for no disk, on which all its connections would wait: what is not
/// in memory is loaded first, on another thread.
package final class FileRegion: Sendable {
  /// Reads a range of a file, so that it is in memory, and calls `onEnd` with false if that fails; it does not block.
  package typealias Loader =
    @Sendable (
      _ file: OpenFile, _ range: Range<Int64>, _ onEnd: @escaping @Sendable (Bool) -> Void
    ) -> Void

  /// What can be sent now.
  enum Presence: Hashable {
    /// This number of bytes.
    case present(Int64)
    /// Nothing; the connection is woken.
    case loading
    case failed
  }

  private struct State {
    /// The end of the part that was in memory.
    var present: Int64 = 0
    var isLoading = false
    var hasFailed = false
  }

  /// The number of bytes that are looked for in memory, and loaded, at a time.
  private static let pieceBytes: Int64 = 1 << 20

  let file: OpenFile
  /// The start of the region, in bytes.
  package let offset: Int64
  /// The length of the region, in bytes.
  package let count: Int64
  private let load: Loader?
  private let state = Locked(State())

  /// The region of a file that contains the range.
  ///
  /// - Parameter load: loads what is not in memory; nil: a network thread waits for it.
  package init(_ file: OpenFile, _ range: Range<Int64>, load: Loader? = nil) {
    self.file = file
    self.load = load
    offset = range.lowerBound
    count = Int64(range.count)
  }

  /// Returns what can be sent after a number of bytes.
  func presence(after done: Int64, _ waker: Waker) -> Presence {
    guard let load else { return .present(count - done) }
    let end = min(count, done + Self.pieceBytes)
    let range = offset + done..<offset + end
    let (presence, isNew) = state.withLock { state -> (Presence, Bool) in
      if state.present > done { return (.present(state.present - done), false) }
      if state.hasFailed { return (.failed, false) }
      if state.isLoading { return (.loading, false) }
      if file.descriptor.isInMemory(range) {
        state.present = end
        return (.present(end - done), false)
      }
      state.isLoading = true
      return (.loading, true)
    }
    if isNew {
      load(file, range) { [weak self] isLoaded in
        self?.state.withLock { state in
          state.isLoading = false
          if isLoaded { state.present = end } else { state.hasFailed = true }
        }
        waker.wake()
      }
    }
    return presence
  }
}
