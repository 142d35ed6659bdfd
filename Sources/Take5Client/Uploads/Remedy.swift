import Foundation

/// What an error means for a submission.
enum Remedy: Equatable {
  /// Wait for so many seconds, and go on.
  case wait(TimeInterval)
  /// Ask where to go on.
  case ask
  /// Look what has become of the submission.
  case look
  /// Wait until the user signs in.
  case signIn
  /// It is refused for good.
  case fail
  /// Its task was cancelled.
  case stop

  /// How often in a row a service may fail in a way that need not pass.
  static let maxFailures = 8
  /// How often a submission may begin from the start.
  static let maxRestarts = 3

  init(_ error: Take5Error, failures: Int, of record: UploadRecord) {
    let pause = Self.wait(Retry.delay(failures: failures, error))
    switch error {
    case .unreachable, .unreadable: self = pause
    case .signedOut: self = .signIn
    case .file: self = .fail
    case .cancelled: self = .stop
    case .problem(let problem):
      switch (problem.code, problem.status) {
      case (.unauthorized, _), (.sessionEnded, _), (_, 401): self = .signIn
      case (.uploadOffset, _), (.uploadWhole, _):
        self = failures <= Self.maxFailures ? .ask : .fail
      case (.uploadNotFound, _), (.uploadInUse, _), (.uploadLength, _), ("http_404", _), ("http_410", _):
        self = record.restarts < Self.maxRestarts ? .look : .fail
      case (.idempotencyKeyRunning, _), (_, 408), (_, 429), (_, 502), (_, 503), (_, 504), (_, 507):
        self = .wait(max(Retry.delay(failures: failures, error), 0.5))
      default:
        // A refusal without a problem comes from a proxy.
        let mayPass = problem.status >= 500 || problem.code == .bare(problem.status)
        self = mayPass && failures <= Self.maxFailures ? pause : .fail
      }
    }
  }
}

extension Problem {
  /// The queue cannot store what it must before it goes on; it waits as for a service without space.
  static let deviceFull = Problem(
    code: "device_full", title: "The device has no free space", status: 507,
    detail: "The queue cannot be stored.", remedy: "Free some space: the submission then goes on by itself.")
}

extension Take5Error {
  /// What the record of a submission says about why it is not sent.
  var recorded: Problem {
    if case .problem(let problem) = self { return problem }
    return .client(message, message, remedy: remedy)
  }
}
