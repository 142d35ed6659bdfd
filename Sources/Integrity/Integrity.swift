import CIntegritySQL
package import Platform
import Postgres

/// The statements that verification, repair and collection share.
package enum Integrity {
  static let statements = Statements(topic: "integrity", IntegritySQL.Integrity)

  /// A failpoint before and after each statement.
  package static var failpoints: [Failpoint] { statements.failpoints }
}
