import HTTPClient
import Model

/// What came of a request: a response, or the reason why there is none.
typealias RequestOutcome = Result<HTTPResponse, HTTPClientError>

/// A failure that a later request may not have.
struct TemporaryFailure: Sendable {
  /// What failed, such as `connection lost`.
  let text: String
  let cause: String
  /// The time that the service asks for.
  let retryAfter: Duration?
  /// Whether there was no connection, for which a wrong address or certificate may be the reason too.
  let isUnreachable: Bool
  /// The failure of the command if the request is not repeated.
  let failure: CommandFailure

  /// Returns nil for a response that a repetition does not change, and for a failure of this machine.
  init?(_ outcome: RequestOutcome) {
    switch outcome {
    case .success(let response):
      guard Self.isTemporary(response) else { return nil }
      self.init(response)
    case .failure(let error):
      guard error.kind == .lost || error.kind == .unreachable else { return nil }
      self.init(error)
    }
  }

  private init(_ error: HTTPClientError) {
    isUnreachable = error.kind == .unreachable
    text = isUnreachable ? "no connection" : "connection lost"
    cause = error.cause
    retryAfter = nil
    failure = CommandFailure(.unavailable, error.description)
  }

  /// - Parameter response: one that is not a success.
  init(_ response: HTTPResponse) {
    isUnreachable = false
    text = "status \(response.status)"
    failure = CommandFailure(response)
    cause = failure.message ?? ""
    retryAfter = response.headers["retry-after"].flatMap { Int($0) }.map { .seconds(max(0, $0)) }
  }

  private static func isTemporary(_ response: HTTPResponse) -> Bool {
    switch response.status {
    case 408, 425: true
    // A quota is per day.
    case 429: response.problem != "quota_exceeded"
    case 409: response.problem == "idempotency_key_running"
    case 501, 505: false
    // The bytes on the disk of the service are damaged.
    case 503: response.problem != "media_damaged"
    case 500...: true
    default: false
    }
  }
}

extension HTTPResponse {
  /// The last part of the type of the problem in the body, such as `upload_not_ready`; nil if the body is no problem.
  var problem: String? {
    guard let problem = try? JSON.decode(ProblemResponse.self, from: body), let type = problem.type else { return nil }
    return type.split(whereSeparator: { ":#/".contains($0) }).last.map(String.init)
  }
}

/// When a request that has failed is sent again: after a pause that doubles, for ever or until the time to give up.
///
/// Times are durations since the start of the command.
struct RetrySchedule: Sendable {
  /// A pause before a repetition.
  struct Pause: Sendable {
    let delay: Duration
    /// Whether the user reads about it: the first failure after progress, then one each minute.
    let isReported: Bool
  }

  private static let maxDelay = 15.0
  private static let reportInterval = Duration.seconds(60)

  /// The time without progress after which the failures end the command; nil: they never do.
  let giveUpAfter: Duration?
  private var hasResponded = false
  private var failures = 0
  /// The time of the first failure since the last progress.
  private var start = Duration.zero
  private var lastReport = Duration.zero

  init(giveUpAfter: Duration? = nil) { self.giveUpAfter = giveUpAfter }

  /// The service has responded: its address is right.
  mutating func responded() { hasResponded = true }

  /// Something is done that was not done before.
  mutating func progressed() { failures = 0 }

  /// Returns the pause after a failure; throws the failure of the command if the request is not sent again.
  ///
  /// - Parameter jitter: from 0 to 1, random, so that clients which lost the same service do not return at once.
  mutating func pause(
    after failed: TemporaryFailure, at now: Duration, jitter: Double
  ) throws(CommandFailure) -> Pause {
    guard hasResponded || !failed.isUnreachable else { throw failed.failure }
    if failures == 0 { start = now }
    let isReported = failures == 0 || now - lastReport >= Self.reportInterval
    if isReported { lastReport = now }
    let longest = min(Self.maxDelay, Double(1 << min(failures, 10)))
    failures += 1
    var delay = Duration.seconds(longest * (0.5 + jitter / 2))
    if let giveUpAfter {
      let left = giveUpAfter - (now - start)
      guard left > .zero, failed.retryAfter ?? .zero <= left else { throw Self.gaveUp(after: now - start, failed) }
      // A last attempt when the time has passed.
      delay = min(delay, left)
    }
    return Pause(delay: max(delay, failed.retryAfter ?? .zero), isReported: isReported)
  }

  private static func gaveUp(after time: Duration, _ failed: TemporaryFailure) -> CommandFailure {
    CommandFailure(
      .unavailable, "gave up after \(ByteText.seconds(time)) without progress: \(failed.text): \(failed.cause)",
      remedy: failed.failure.remedy
        ?? "check the connection, then run the command again, or set a longer --give-up-after")
  }
}
