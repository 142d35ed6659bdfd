/// What a notification says of the jobs of a queue.
package struct JobCall: Sendable, Hashable {
  package let queue: String
  /// The same in a call and in what ends it.
  package let number: UInt32
  /// Whether a worker that answered the call has found no further job.
  package let isOver: Bool

  /// A call: a job of the queue may be available.
  package init(_ queue: String) { self.init(queue, number: .random(in: .min ... .max), isOver: false) }

  package init(_ queue: String, number: UInt32, isOver: Bool) {
    (self.queue, self.number, self.isOver) = (queue, number, isOver)
  }

  /// Reads what `payload` writes; nil for anything else.
  package init?(payload: String) {
    let words = payload.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count >= 2, let number = UInt32(words[1]), words.count == 2 || words.count == 3 && words[2] == "over"
    else { return nil }
    self.init(String(words[0]), number: number, isOver: words.count == 3)
  }

  /// The payload of the notification.
  package var payload: String { "\(queue) \(number)\(isOver ? " over" : "")" }
}
