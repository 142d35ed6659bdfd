internal import HTTPClient
internal import HTTPServer
internal import Kit
import Model
internal import Platform

/// What decides on each registration, such as a captcha or a list of invitations: a program of the operator's, which is asked by HTTP.
///
/// A client sends what the program wants to see as the field `evidence`. The service knows nothing of it. A program that does not decide
/// within the time permits nothing: it guards a door.
package struct RegistrationCheck: Sendable {
  /// The time for a decision, in seconds.
  private static let timeout = 5
  /// What is read of a response, in bytes.
  private static let maxReply = 4096

  private let url: RequestURL
  private let client: HTTPClient
  /// The decisions that are waited for at a time: a slow program delays registrations alone, and one address not those of all others.
  private let waiting = SharedLimit("checked registration", max: 16, userShare: 1)

  /// - Parameter url: `https://HOST/PATH`, or the same with `http`; nil for any other text. It may be one inside the network.
  package init?(_ url: String) {
    guard let target = RequestURL(url) else { return nil }
    self.url = target
    client = HTTPClient(server: target.server, usesProxies: false)
  }

  /// What the program gets.
  private struct Question: Encodable {
    let userName: String
    let email: String?
    let address: String
    let evidence: String?
  }

  /// Throws a problem unless the program permits a registration: with status 403 if it refuses, and 503 if it does not decide.
  func require(
    _ userName: String, _ email: String?, _ evidence: String?, by asking: Request
  ) async throws {
    let body = try JSON.encode(
      Question(userName: userName, email: email, address: "\(asking.client)", evidence: evidence))
    let request = HTTPRequest("POST", url.path, headers: [("Content-Type", "application/json")], body: .bytes(body))
    let status: Int
    do {
      status = try await waiting.admit(asking) {
        try await onThread("registration") { [client] in
          try client.send(request, cutAt: Self.maxReply, within: Self.timeout) { _ in true }.status
        }
      }
    } catch is HTTPClientError {
      throw Self.undecided
    }
    switch status {
    case 200...299: return
    // That the program is asked too much, or by the wrong service, is no word about this client.
    case 400...499 where ![401, 404, 405, 407, 408, 429].contains(status):
      throw ProblemKind.registrationRefused.problem("The operator's check refused the registration.")
    default: throw Self.undecided
    }
  }

  private static var undecided: Problem {
    ProblemKind.registrationUndecided.problem(
      "The operator's check of registrations does not decide.", headers: ["Retry-After": "5"])
  }
}
