import Foundation

/// A session that ends with the app, for tests and previews.
///
/// ```swift
/// let client = Take5Client(url: url, tokens: MemoryTokenStore())
/// ```
public final class MemoryTokenStore: TokenStore, @unchecked Sendable {
  // `Mutex` needs iOS 18.
  private let lock = NSLock()
  private var session: Session?

  /// Makes a store, with a session or empty.
  public init(_ session: Session? = nil) { self.session = session }

  /// The session that is stored, or nil.
  public func read() -> Session? { lock.withLock { session } }
  /// Stores a session in place of the one before.
  public func write(_ session: Session) { lock.withLock { self.session = session } }
  /// Removes the session.
  public func remove() { lock.withLock { session = nil } }
}
