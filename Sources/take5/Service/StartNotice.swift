import Platform

/// What is done once as a service comes into being: when it can serve, or before that when it begins to wait for its database.
final class StartNotice: Sendable {
  private let isGiven = Locked(false)
  private let notice: @Sendable () throws -> Void

  init(_ notice: @escaping @Sendable () throws -> Void) { self.notice = notice }

  /// Gives the notice, unless it was given.
  func give() throws {
    let isFirst = isGiven.withLock { isGiven in
      defer { isGiven = true }
      return !isGiven
    }
    if isFirst { try notice() }
  }
}
