package import Postgres

/// The steps of the queue's schema.
package enum QueueMigrations {
  /// All of them; versions 1 to 99 are the queue's.
  package static var all: [Migration] {
    [
      Migration(version: 1, name: "queue", PackageResources.v0001_queue_sql),
      Migration(version: 2, name: "groups", PackageResources.v0002_groups_sql),
      Migration(version: 3, name: "lighter", PackageResources.v0003_lighter_sql),
      Migration(version: 4, name: "faults", PackageResources.v0004_faults_sql),
      Migration(version: 5, name: "single", PackageResources.v0005_single_sql),
    ]
  }
}
