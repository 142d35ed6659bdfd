/// The history of the database: another one begins where the database lacks what it had committed, because a backup was restored or a
/// standby was promoted. The numbers of a history are above all numbers of earlier ones, lost numbers included.
package struct EventHistory: Sendable, Hashable {
  /// The number that all numbers of the history are above; 0: it is the first one.
  package let after: Int64
  /// The last opening or closing of a window when it began, as in `EventPosition`.
  package let window: Int64

  package init(after: Int64, window: Int64) {
    self.after = after
    self.window = window
  }
}

/// How far a stream has got, and which history its client knows.
package struct EventProgress: Sendable, Hashable {
  package var position: EventPosition
  /// The history that the client knows by a `reset`; its numbers are above this one.
  private var known: Int64 = 0

  package init(at position: EventPosition) { self.position = position }

  /// Moves to where the events begin that the client lacks.
  ///
  /// Numbers without an event lie between two histories, so what follows the number of an earlier history is what its reader lacks: what
  /// this one has of it, and nothing that was lost.
  ///
  /// - Parameters:
  ///   - first: the number of the first event that follows the position; nil: none does.
  ///   - oldest: the number of the oldest event that is stored, of a stream whose numbers have gaps; nil: it has none.
  ///   - last: the number of the last event, not below `history.after`; it was read before `first`, and after the position.
  /// - Returns: whether the client gets `reset` first: it lacks events that are no longer stored, or it knows of some that were lost.
  package mutating func resume(at first: Int64?, oldest: Int64?, last: Int64, in history: EventHistory) -> Bool {
    let number = position.number
    let isOfEarlier = max(number, known) < history.after
    let isUnknown = number > last
    let next = oldest ?? first ?? last + 1
    let isBehind = number <= history.after && next == history.after + 1
    known = history.after
    guard isOfEarlier || isUnknown || next > number + 1 && !isBehind else {
      // Nothing is left of the earlier histories.
      if first == nil { position.number = max(number, history.after) }
      return false
    }
    if isOfEarlier { position.window = min(position.window, history.window) }
    position.number =
      isUnknown ? min(max((oldest ?? last + 1) - 1, history.after), last) : min((first ?? last + 1) - 1, last)
    return true
  }
}
