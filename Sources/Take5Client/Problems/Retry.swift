import Foundation

/// When a request is sent again.
enum Retry {
  /// The longest `Retry-After` in seconds that is waited for; beyond it the caller knows better what to do with the time.
  static let maxPause: TimeInterval = 60

  /// What a submission waits for at most, before it asks again.
  static let maxDelay: TimeInterval = 3600

  /// The seconds before the next attempt: what the service says, or twice as many each time, up to 30. A part is random, so that
  /// clients spread.
  static func delay(failures: Int, _ error: Take5Error) -> TimeInterval {
    if let after = error.retryAfter { return min(after, maxDelay) + .random(in: 0..<1) }
    let exponent = min(max(failures, 1), 7) - 1
    return min(30, 0.5 * pow(2, Double(exponent))) * .random(in: 0.5..<1)
  }

  static func pause(_ seconds: TimeInterval) async throws(Take5Error) {
    do { try await Task.sleep(for: .seconds(seconds)) } catch { throw .cancelled }
  }
}
