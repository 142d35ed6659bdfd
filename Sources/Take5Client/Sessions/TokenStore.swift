import Foundation

/// Where an app stores the session of its user: the keychain, a file, or nothing but memory.
///
/// The client reads it once, writes it after each renewal before it goes on, and removes it when the user signs out. An app may
/// have a store of its own:
///
/// ```swift
/// struct DefaultsTokenStore: TokenStore {
///   func read() throws -> Session? {
///     try UserDefaults.standard.data(forKey: "session").map { try JSONDecoder().decode(Session.self, from: $0) }
///   }
///   func write(_ session: Session) throws { UserDefaults.standard.set(try JSONEncoder().encode(session), forKey: "session") }
///   func remove() throws { UserDefaults.standard.removeObject(forKey: "session") }
/// }
/// ```
public protocol TokenStore: Sendable {
  /// The session that is stored, or nil.
  func read() throws -> Session?
  /// Stores a session in place of the one before.
  func write(_ session: Session) throws
  /// Removes the session.
  func remove() throws
}
