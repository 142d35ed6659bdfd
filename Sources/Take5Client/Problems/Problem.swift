public import Foundation

/// What the service refuses, and what to do (RFC 9457).
///
/// ```swift
/// if case .problem(let problem) = error {
///   for field in problem.errors { mark(field.field, field.detail) }
///   show(problem.title, problem.remedy)
/// }
/// ```
public struct Problem: Sendable, Equatable, Codable {
  /// A field, a part or a parameter that is invalid.
  public struct FieldError: Sendable, Equatable, Codable {
    /// Its name, such as `post.location.latitude`.
    public var field: String
    /// The expected value.
    public var detail: String
  }

  /// The kind of problem.
  public var code: ProblemCode
  /// The title of the kind.
  public var title: String
  /// The status of the response.
  public var status: Int
  /// What happened this time.
  public var detail: String?
  /// What to do.
  public var remedy: String?
  /// The fields that are invalid.
  public var errors: [FieldError]
  /// Why media were rejected.
  public var reasons: [Reason]
  /// The id of the request, which the log of the service has too.
  public var requestID: String?
  /// The seconds after which the request may be sent again.
  public var retryAfter: TimeInterval?

  init(code: ProblemCode, title: String, status: Int, detail: String? = nil, remedy: String? = nil) {
    (self.code, self.title, self.status, self.detail, self.remedy) = (code, title, status, detail, remedy)
    (errors, reasons) = ([], [])
  }

  /// What this client finds without the service.
  static func client(_ title: String, _ detail: String, remedy: String) -> Problem {
    Problem(code: "client", title: title, status: 0, detail: detail, remedy: remedy)
  }

  /// The problem of a response, or nil if no service has sent it.
  init?(status: Int, body: Data, requestID: String?, retryAfter: TimeInterval?) {
    let members: Members
    do { members = try JSONDecoder().decode(Members.self, from: body) } catch { return nil }
    guard let last = members.type.split(whereSeparator: { ":#/".contains($0) }).last else { return nil }
    self.init(
      code: ProblemCode.registered[String(last)] ?? ProblemCode(rawValue: String(last)), title: members.title,
      status: status, detail: members.detail, remedy: members.remedy)
    (errors, reasons) = (members.errors ?? [], members.reasons ?? [])
    (self.requestID, self.retryAfter) = (requestID, retryAfter)
  }

  private struct Members: Decodable {
    var type: String
    var title: String
    var detail: String?
    var remedy: String?
    var errors: [FieldError]?
    var reasons: [Reason]?
  }

  /// Whether the service wants the request again after a short time, or a proxy does not reach it.
  var isPassing: Bool {
    if [408, 502, 504].contains(status) { return true }
    let asksForIt = status == 429 || status == 503 || code == .idempotencyKeyRunning
    return asksForIt && (retryAfter ?? .infinity) <= Retry.maxPause
  }
}

/// Why media were rejected.
///
/// ```swift
/// let text = post.reasons.map(\.detail).joined(separator: "\n")
/// ```
public struct Reason: Sendable, Hashable, Codable {
  /// The kind, such as `duration_out_of_range`.
  public var code: String
  /// The finding, and the remedy.
  public var detail: String
  /// The file that it is about: `front`, `back`, `photo`, or nil for all.
  public var input: String?
}
