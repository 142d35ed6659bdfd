/// The kind of a problem: the end of its `type`, which does not change between versions of the service.
///
/// Codes that an app handles have names here; a later service may send others.
///
/// ```swift
/// if error.code == .userNameTaken { suggestAnotherName() }
/// ```
public struct ProblemCode: RawRepresentable, Sendable, Hashable, Codable, ExpressibleByStringLiteral {
  /// The code, as the service writes it.
  public let rawValue: String
  /// A code, as the service writes it.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// A code, as the service writes it.
  public init(stringLiteral value: String) { rawValue = value }

  /// The user name or the password is wrong.
  public static let signInFailed: Self = "sign_in_failed"
  /// Another user has the user name.
  public static let userNameTaken: Self = "user_name_taken"
  /// The session has ended: the user signs in again.
  public static let sessionEnded: Self = "session_ended"
  /// The token is missing or not valid any more.
  public static let unauthorized: Self = "unauthorized"
  /// Fields are missing or invalid: `errors` names them.
  public static let invalidFields: Self = "invalid_fields"
  /// The post is late, or outside of the daily window.
  public static let notOnTime: Self = "not_on_time"
  /// The media were rejected, for the `reasons`.
  public static let mediaRejected: Self = "media_rejected"
  /// A file is larger than the service accepts.
  public static let partTooLarge: Self = "part_too_large"
  /// A file that is sent in parts is larger than the service accepts.
  public static let uploadTooLarge: Self = "upload_too_large"
  /// The user has submitted what is allowed on a day.
  public static let quotaExceeded: Self = "quota_exceeded"
  /// Too many requests: `retryAfter` says when to send the next one.
  public static let tooManyRequests: Self = "too_many_requests"
  /// A moderator has suspended the user.
  public static let userSuspended: Self = "user_suspended"
  /// The user is being deleted.
  public static let userForgotten: Self = "user_forgotten"
  /// The post was deleted, or the user does not see it.
  public static let postNotFound: Self = "post_not_found"
  /// It belongs to another user.
  public static let notYours: Self = "not_yours"
  /// The service has no accounts.
  public static let accountsOff: Self = "accounts_off"

  static let uploadOffset: Self = "upload_offset"
  static let uploadNotFound: Self = "upload_not_found"
  static let uploadExpired: Self = "upload_expired"
  static let uploadInUse: Self = "upload_in_use"
  static let uploadWhole: Self = "upload_whole"
  static let uploadLength: Self = "upload_length"
  static let idempotencyKeyRunning: Self = "idempotency_key_running"

  /// The code of a response without a problem, such as the response to HEAD, or a proxy's.
  static func bare(_ status: Int) -> Self { Self(rawValue: "http_\(status)") }

  /// Three problems have registered types where the protocol of uploads names them.
  static let registered: [String: ProblemCode] = [
    "digest-mismatching-values": "digest_mismatch", "mismatching-upload-offset": .uploadOffset,
    "inconsistent-upload-length": .uploadLength,
  ]
}
