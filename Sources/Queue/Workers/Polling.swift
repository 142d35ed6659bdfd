import Platform

/// How long a worker waits between two looks at the queue for which it has no other reason, and how many workers there are that look.
final class Polling: Sendable {
  private let configured: Duration
  private let isListening = Locked(false)
  private let count = Locked(0)

  /// - Parameter interval: the interval while the listener is not connected.
  init(interval: Duration) { configured = interval }

  /// The time until the next look. It varies, so that workers that started together do not look together.
  var interval: Duration {
    guard isListening.withLock({ $0 }) else { return configured }
    // A notification may be lost although the listener is connected.
    return max(configured, min(configured * 30, .seconds(30)) * Double.random(in: 0.8...1))
  }

  /// Notes that the listener has connected, or is not connected any more; returns whether that is a change.
  func setListening(_ isListening: Bool) -> Bool {
    self.isListening.withLock { present in
      defer { present = isListening }
      return present != isListening
    }
  }

  /// The number of registered workers, as far as this one knows; 0: it does not.
  var workers: Int {
    get { count.withLock { $0 } }
    set { count.withLock { $0 = newValue } }
  }
}
