package import Postgres
import Queue

/// The steps of the whole schema, the queue's and the store's.
package enum StoreMigrations {
  /// In order; versions 100 and up are the store's.
  package static var all: [Migration] {
    QueueMigrations.all + [Migration(version: 100, name: "store", PackageResources.v0100_store_sql)]
  }
}
