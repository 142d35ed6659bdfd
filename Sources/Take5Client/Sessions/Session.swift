public import Foundation

/// The session of a user who is signed in. A `TokenStore` stores it.
///
/// ```swift
/// if let session = try await client.session { show(session.user) } else { showSignIn() }
/// ```
public struct Session: Sendable, Equatable, Codable {
  /// The id of the user.
  public var user: String
  /// The access token, which is sent with each request.
  public var token: String
  /// The token that renews the session, once.
  public var refreshToken: String?
  /// When the access token expires.
  public var expiresAt: Date

  private enum CodingKeys: String, CodingKey {
    case user, token
    case refreshToken = "refresh_token"
    case expiresAt = "expires_at"
  }
}
