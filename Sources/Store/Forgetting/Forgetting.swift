import CStoreSQL
package import Postgres

/// The deletion of users.
package enum Forgetting {
  package static let statements = Statements(topic: "forgetting", StoreSQL.Forgetting)
}
