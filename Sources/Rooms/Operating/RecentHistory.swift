internal import Platform

/// The figures of the history, which one read at a time brings for all consoles: the history of a day is long.
///
/// Reads take a tenth of the time at most. While one runs or fails, the figures before are those of the responses.
final class RecentHistory: Sendable {
  /// The time for which figures are not read again, unless their read took more than a tenth of it.
  private static let lifetime = Duration.seconds(5)
  /// The age from which a response waits for new figures.
  private static let maxAge = Duration.seconds(60)

  private struct State {
    var figures: HistoryFigures?
    var readAt: ContinuousClock.Instant?
    var next: ContinuousClock.Instant?
    var read: Task<HistoryFigures?, Never>?
  }

  private let state = Locked(State())

  /// Returns the figures; nil if they could not be read.
  func figures(_ read: @escaping @Sendable () async throws -> HistoryFigures) async -> HistoryFigures? {
    let now = ContinuousClock.now
    let (figures, task) = state.withLock { state in
      if state.read == nil, state.next.map({ $0 <= now }) ?? true { state.read = Task { await self.refresh(read) } }
      let isRecent = state.readAt.map { now - $0 < Self.maxAge } ?? false
      return (state.figures, isRecent ? nil : state.read)
    }
    return if let task { await task.value } else { figures }
  }

  private func refresh(_ read: @Sendable () async throws -> HistoryFigures) async -> HistoryFigures? {
    let start = ContinuousClock.now
    let figures: HistoryFigures?
    do { figures = try await read() } catch { figures = nil }
    let end = ContinuousClock.now
    return state.withLock { state in
      if let figures { (state.figures, state.readAt) = (figures, end) }
      state.next = end + max(Self.lifetime, (end - start) * 10)
      state.read = nil
      return state.figures
    }
  }
}
