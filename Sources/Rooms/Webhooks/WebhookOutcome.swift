internal import HTTPClient
internal import Model
internal import Queue

/// What became of an attempt to send a message.
enum WebhookOutcome: Sendable, Hashable {
  case delivered(status: Int)
  /// The endpoint wants nothing more.
  case gone
  /// The event is gone.
  case withdrawn
  /// This version cannot read the event; a later one may.
  case setAside
  /// - Parameters:
  ///   - error: what the list of deliveries says, which is nothing of hosts and addresses near the service.
  ///   - retryAfter: the time that the endpoint asks for, in seconds.
  ///   - detail: what the log has besides.
  case failed(status: Int?, error: String, retryAfter: Int?, detail: String? = nil)

  /// The URL is not permitted any more.
  static let refused = WebhookOutcome.failed(status: nil, error: WebhookOutcome.text(of: .admission), retryAfter: nil)

  /// The endpoint has not responded.
  init(_ error: HTTPClientError) {
    self = .failed(status: nil, error: Self.text(of: error.stage), retryAfter: nil, detail: error.cause)
  }

  private static func text(of stage: HTTPClientError.Stage) -> String {
    switch stage {
    case .resolution: "the name cannot be resolved"
    case .admission: "the address is not permitted"
    case .connection: "no connection"
    case .security: "TLS failed"
    case .time: "no response in time"
    case .transfer: "the connection was lost"
    case .other: "no valid response"
    }
  }

  /// - Parameter shows: whether the body of the response may be kept: it may repeat that of the request.
  init(_ response: HTTPResponse, now: Int, showing shows: Bool) {
    switch response.status {
    case 200..<300: self = .delivered(status: response.status)
    case 410: self = .gone
    default:
      var text = ""
      // Without what a terminal would obey.
      for scalar in String(decoding: shows ? response.body.prefix(1000) : [], as: UTF8.self).unicodeScalars
      where ![.control, .format].contains(scalar.properties.generalCategory) { text.unicodeScalars.append(scalar) }
      self = .failed(
        status: response.status,
        error: text.isEmpty ? "status \(response.status)" : "status \(response.status): \(text)",
        retryAfter: response.retryAfter(now: now))
    }
  }

  var isFailure: Bool { if case .failed = self { true } else { false } }

  /// The pauses after the attempts, in seconds, by the rules of standardwebhooks.com: three days in all.
  static let pauses: [Double] = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]

  /// What is stored of it. A pause is up to a tenth longer, so that messages that failed together do not return together.
  ///
  /// - Parameter attempts: those before this one.
  func record(
    attempts: Int, jitter: Double = .random(in: 0...0.1)
  ) -> (state: WebhookDelivery.State, pause: Double?, status: Int?, error: String?) {
    switch self {
    case .delivered(let status): return (.delivered, nil, status, nil)
    case .gone: return (.failed, nil, 410, "status 410")
    case .withdrawn: return (.failed, nil, nil, "the event was deleted")
    case .setAside: return (.pending, Double(SetAside.seconds), nil, "the event cannot be read")
    case .failed(let status, let error, let seconds, _):
      guard Self.pauses.indices.contains(attempts) else { return (.failed, nil, status, error) }
      return (.pending, max(Self.pauses[attempts] * (1 + jitter), Double(seconds ?? 0)), status, error)
    }
  }
}

/// What some outcomes together say about an endpoint.
struct WebhookTurn: Sendable, Hashable {
  /// The time in which nothing succeeded after which an endpoint is disabled, in seconds: five days.
  static let limit = 5.0 * 24 * 3600
  /// An endpoint that fails gets one message each time, at the latest after five minutes: another message may be one that it takes.
  private static let pauses: [Double] = [5, 30, 300]

  /// The number of turns in a row that failed; 0: this one did not.
  let failures: Int
  /// The time until the next turn, in seconds.
  let pause: Double
  /// Why the endpoint is disabled; nil: it is not.
  let cause: Webhook.Cause?

  /// - Parameters:
  ///   - failures: the failures in a row before it.
  ///   - failingSeconds: the time since the first of them.
  init(_ outcomes: [WebhookOutcome], failures: Int, failingSeconds: Double) {
    var (asked, hasFailed, hasSucceeded, isGone) = (0, false, false, false)
    for outcome in outcomes {
      switch outcome {
      case .delivered: hasSucceeded = true
      case .gone: isGone = true
      case .withdrawn, .setAside: break
      case .failed(_, _, let seconds, _):
        hasFailed = true
        asked = max(asked, seconds ?? 0)
      }
    }
    let isFailing = hasFailed && !hasSucceeded
    // Of a page without a response of the endpoint nothing follows.
    self.failures = isFailing ? min(failures, 1000) + 1 : hasSucceeded ? 0 : failures
    // What a response asks for is for its message; the endpoint waits as long as its rule permits, and not if it took another one.
    let own = Self.pauses[min(failures, Self.pauses.count - 1)]
    self.pause = isFailing ? max(own, min(Double(asked), Self.pauses[Self.pauses.count - 1])) : 0
    cause = isGone ? .gone : isFailing && failingSeconds >= Self.limit ? .failing : nil
  }
}
