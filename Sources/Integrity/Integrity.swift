package import Platform
import Postgres

/// What looks whether a store is whole.
package enum Integrity {
  static let statements = Statements(topic: "integrity", PackageResources.Integrity_sql)

  /// Every statement of it can be interrupted before and after.
  package static var failpoints: [Failpoint] { statements.failpoints }
}
