/// The time that a client has left to send a body. It passes only while the server waits for the client.
///
/// A short body has a fixed time. A longer one has as much as it goes on: what arrives adds time again, up to what it had at the
/// start, so that a pause is possible, and a body of single bytes ends soon.
struct BodyTime {
  private var left: Duration
  private let most: Duration
  /// In bytes per second; nil: nothing that arrives adds time.
  private let rate: Int64?
  /// Since when the server has been waiting for the client.
  private var start: ContinuousClock.Instant?

  /// - Parameters:
  ///   - maxBytes: the maximum length of the body.
  ///   - isResumable: whether the client goes on from what has arrived; such a body is never short.
  init(maxBytes: Int64, isResumable: Bool, _ configuration: ServerConfiguration) {
    let isShort = maxBytes <= configuration.shortBodyBytes && !isResumable
    most = isShort ? configuration.shortBodyTimeout : configuration.bodyTimeout
    rate = isShort ? nil : configuration.minBodyRate
    left = most
  }

  /// Lets the time pass from now on.
  mutating func resume(at now: ContinuousClock.Instant) { if start == nil { start = now } }

  /// Lets no time pass while the handler is busy.
  mutating func pause(at now: ContinuousClock.Instant) {
    left = rest(at: now)
    start = nil
  }

  /// Adds time for bytes that have arrived.
  mutating func received(_ count: Int, at now: ContinuousClock.Instant) {
    guard let rate, start != nil else { return }
    left = min(most, rest(at: now) + .seconds(Int64(count)) / rate)
    start = now
  }

  /// Whether the time is over.
  func isOver(at now: ContinuousClock.Instant) -> Bool { rest(at: now) <= .zero }

  private func rest(at now: ContinuousClock.Instant) -> Duration { start.map { left - (now - $0) } ?? left }
}
