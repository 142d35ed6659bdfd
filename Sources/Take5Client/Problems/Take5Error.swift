public import Foundation

/// Why a call failed.
///
/// ```swift
/// do {
///   try await client.signIn(name: name, password: password)
/// } catch {
///   switch error.code {
///   case .signInFailed: message = "Wrong name or password."
///   default: message = "\(error.message) \(error.remedy)"
///   }
/// }
/// ```
public enum Take5Error: Error, Sendable, Equatable {
  /// The service refuses the request, or rejected the media.
  case problem(Problem)
  /// The service did not answer: the network is interrupted, or the service does not run. The queue sends its submissions later.
  case unreachable(String)
  /// Something else than the service has answered, such as the sign-in page of a network.
  case unreadable(String)
  /// A file of a submission, or of this client, cannot be read or written.
  case file(String)
  /// The call needs a user who is signed in.
  case signedOut
  /// The task that waited was cancelled, or the submission was.
  case cancelled

  /// The kind of problem, or nil if it is none of the service.
  public var code: ProblemCode? {
    if case .problem(let problem) = self { problem.code } else { nil }
  }

  /// What happened, in a sentence for people.
  public var message: String {
    switch self {
    case .problem(let problem): problem.detail ?? problem.title
    case .unreachable: "The service cannot be reached."
    case .unreadable(let detail): "The answer does not come from the service: \(detail)"
    case .file(let detail): detail
    case .signedOut: "No user is signed in."
    case .cancelled: "It was cancelled."
    }
  }

  /// What to do, in a sentence for people.
  public var remedy: String {
    switch self {
    case .problem(let problem): problem.advice
    case .unreachable: "Check the connection, and try again."
    case .unreadable: "Check the network: it may ask to sign in."
    case .file: "Check that the file is there, and that the device has free space."
    case .signedOut: "Sign in."
    case .cancelled: "Do it again if it is still wanted."
    }
  }

  /// Whether a repetition may succeed without a change.
  var isPassing: Bool {
    switch self {
    case .unreachable, .unreadable: true
    case .problem(let problem): problem.isPassing
    case .file, .signedOut, .cancelled: false
    }
  }

  /// The seconds after which the service wants the request again.
  var retryAfter: TimeInterval? {
    if case .problem(let problem) = self { problem.retryAfter } else { nil }
  }

  /// The status of the response, or nil without one.
  var status: Int? {
    if case .problem(let problem) = self { problem.status } else { nil }
  }
}

extension Problem {
  /// What a person does: the remedy of the service is for who writes the app where it names members of the response.
  var advice: String {
    switch code {
    case .invalidFields where !errors.isEmpty:
      let names = errors.map { error in
        (error.field.split(separator: ".").last.map(String.init) ?? error.field).replacing("_", with: " ")
      }
      return "Correct the \(names.joined(separator: ", the ")), and try again."
    case .tooManyRequests:
      guard let seconds = retryAfter.flatMap({ Int(exactly: $0.rounded(.up)) }) else { return "Try again later." }
      return "Wait \(seconds == 1 ? "a second" : "\(seconds) seconds"), and try again."
    default: return remedy ?? "Try again later."
    }
  }
}

extension Take5Error: LocalizedError {
  /// The `message`.
  public var errorDescription: String? { message }
  /// The `remedy`.
  public var recoverySuggestion: String? { remedy }
}
