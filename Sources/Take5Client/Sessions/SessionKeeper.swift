import Foundation

/// Has the session of the user, renews it once for all requests that wait, and stores it.
actor SessionKeeper {
  typealias Renewal = @Sendable (_ refreshToken: String) async throws(Take5Error) -> Session

  private let tokens: any TokenStore
  private var session: Session?
  private var isRead = false
  /// When the token is renewed ahead of its expiry; not at once after a renewal, since the clock of a phone may be wrong.
  private var renewAt = Date.distantFuture
  /// Whether the store has the session: if its disk is full, the next request tries again.
  private var isStored = true
  private var renewal: Task<Result<Session, Take5Error>, Never>?

  init(tokens: any TokenStore) { self.tokens = tokens }

  func current() throws(Take5Error) -> Session? {
    if !isRead {
      session = try stored()
      renewAt = session?.expiresAt.addingTimeInterval(-60) ?? .distantFuture
    }
    isRead = true
    return session
  }

  func begin(_ session: Session) throws(Take5Error) {
    isRead = true
    adopt(session)
    store()
    guard isStored else { throw .file("The session cannot be stored.") }
  }

  func end() {
    renewal?.cancel()
    (session, isRead, isStored) = (nil, true, true)
    // What cannot be removed has been revoked, or expires.
    do { try tokens.remove() } catch { isStored = true }
  }

  /// The token for a request of a user, or of who is signed in. A minute before its expiry it is renewed.
  func token(of user: String?, renewing renew: @escaping Renewal) async throws(Take5Error) -> String {
    let session = try session(of: user)
    if !isStored { store() }
    guard session.refreshToken != nil, renewAt < Date() else { return session.token }
    return try await renewed(session, renew).token
  }

  /// The token after the service has refused one.
  func token(
    of user: String?, after refused: String, _ error: Take5Error, renewing renew: @escaping Renewal
  ) async throws(Take5Error) -> String {
    let session = try session(of: user)
    // Another request has renewed it meanwhile.
    guard session.token == refused else { return session.token }
    guard session.refreshToken != nil else { throw error }
    return try await renewed(session, renew).token
  }

  private func renewed(_ former: Session, _ renew: @escaping Renewal) async throws(Take5Error) -> Session {
    if let renewal { return try await renewal.value.get() }
    // Another process of the app may have renewed it: a refresh token works once.
    if let stored = try stored(), stored.user == former.user, stored.refreshToken != former.refreshToken, isStored {
      adopt(stored)
      return stored
    }
    guard let refreshToken = former.refreshToken else { throw .signedOut }
    let task = Task<Result<Session, Take5Error>, Never> {
      do throws(Take5Error) { return .success(try await renew(refreshToken)) } catch { return .failure(error) }
    }
    renewal = task
    let result = await task.value
    renewal = nil
    // Unless the user has signed out, or in again, meanwhile.
    guard session?.refreshToken == refreshToken else {
      guard let session else { throw .signedOut }
      return session
    }
    switch result {
    case .success(let next):
      adopt(next)
      store()
      return next
    case .failure(let error):
      if error.status == 401 { end() }
      throw error
    }
  }

  /// A request of one user is never sent as another, who has signed in meanwhile.
  private func session(of user: String?) throws(Take5Error) -> Session {
    guard let session = try current(), user == nil || user == session.user else { throw .signedOut }
    return session
  }

  private func adopt(_ session: Session) {
    self.session = session
    renewAt = max(session.expiresAt.addingTimeInterval(-60), Date(timeIntervalSinceNow: 300))
  }

  private func stored() throws(Take5Error) -> Session? {
    do { return try tokens.read() } catch { throw .file("The session cannot be read.") }
  }

  private func store() {
    guard let session else { return }
    do {
      try tokens.write(session)
      isStored = true
    } catch {
      isStored = false
    }
  }
}
