package import Platform
import Postgres

extension Store {
  /// Every statement of the store can be interrupted before and after.
  package static var failpoints: [Failpoint] {
    statements.failpoints + runStatements.failpoints + collecting.failpoints + damageStatements.failpoints
  }
}
