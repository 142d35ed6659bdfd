package import Platform

/// Why the private PostgreSQL cannot serve, and what helps.
package struct EmbeddedPostgresError: Error, Sendable, CustomStringConvertible {
  package let message: String
  package let remedy: String?

  package init(_ message: String, remedy: String? = nil) {
    self.message = message
    self.remedy = remedy
  }

  package init(_ error: SystemError) {
    self.init("\(error)")
  }

  package var description: String { remedy.map { "\(message). \($0)" } ?? message }
}
