import Glibc
package import Postgres

/// A connection that is made anew whenever it is lost, for work that may be repeated.
package final class ReconnectingSession {
  private let url: DatabaseURL
  private var session: Session?

  package init(_ url: DatabaseURL) { self.url = url }

  /// Runs a body once; a connection that was lost in it is made anew by the next.
  package func once<Result>(_ body: (Session) throws -> Result) throws -> Result {
    let session = try self.session ?? Session.connect(url, timeout: .seconds(1))
    self.session = session
    do {
      return try body(session)
    } catch {
      self.session = nil
      throw error
    }
  }

  /// Runs a body until it succeeds, whatever becomes of the database meanwhile; what it does may have happened before.
  package func repeating<Result>(_ body: (Session) throws -> Result) throws -> Result {
    while true {
      do {
        return try once(body)
      } catch let error as PostgresError where error.isTransient {
        usleep(20_000)
      }
    }
  }
}
