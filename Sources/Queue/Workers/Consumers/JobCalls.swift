import Glibc

/// The calls that a consumer has received.
///
/// A job that becomes available calls all workers, and one of them can have it. So two of all answer at once, and after each moment twice as
/// many, until one finds nothing left; a few workers all answer at once. Who has the last job that it asked for calls again, because there
/// may be more.
package struct JobCalls: Sendable {
  /// The number of workers that answer a call at once.
  package static let first = 2
  /// Longer than a claim, so that most workers learn in time that a call is over.
  private static let moment = Duration.milliseconds(15)
  /// More are answered at once: a worker that has received so many has much to do.
  private static let maxWaiting = 1000

  private var waiting: Set<UInt32> = []
  private var answered: [UInt32] = []

  package init() {}

  /// The time after which a worker answers a call.
  ///
  /// - Parameter draw: 0 to 1, another one for each worker and call.
  package static func delay(among workers: Int, draw: Double) -> Duration {
    let place = Double(workers) * draw
    return place <= Double(first) ? .zero : moment * (log2(place / Double(first)).rounded(.up))
  }

  /// Notes a call that is to be answered later; false: it is to be answered now.
  package mutating func receive(_ number: UInt32) -> Bool {
    guard waiting.count < Self.maxWaiting else { return false }
    waiting.insert(number)
    return true
  }

  /// Ends a call.
  package mutating func end(_ number: UInt32) { waiting.remove(number) }

  /// Answers a call that was received; false if it has ended.
  package mutating func answer(_ number: UInt32) -> Bool {
    guard waiting.remove(number) != nil else { return false }
    answered.append(number)
    return true
  }

  /// Takes the calls that the next claim answers.
  package mutating func takeAnswered() -> [UInt32] {
    defer { answered = [] }
    return answered
  }

  /// What a claim that has answered calls says to the other workers.
  ///
  /// - Parameter isFull: whether it got as many jobs as it asked for.
  package static func reply(
    to answered: [UInt32], in queue: String, isFull: Bool, among workers: Int
  ) -> [JobCall] {
    guard workers > first, !answered.isEmpty else { return [] }
    return isFull ? [JobCall(queue)] : answered.map { JobCall(queue, number: $0, isOver: true) }
  }
}
