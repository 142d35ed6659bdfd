package import Postgres
import Queue

/// The steps of the whole schema, the queue's first.
package enum StoreMigrations {
  /// All of them; versions from 100 on are the store's.
  package static var all: [Migration] {
    QueueMigrations.all + [
      Migration(version: 100, name: "store", PackageResources.v0100_store_sql),
      Migration(version: 101, name: "images", PackageResources.v0101_images_sql),
      Migration(version: 102, name: "reading", PackageResources.v0102_reading_sql),
      Migration(version: 103, name: "window", PackageResources.v0103_window_sql),
      Migration(version: 104, name: "reprocessing", PackageResources.v0104_reprocessing_sql),
      Migration(version: 105, name: "holding", PackageResources.v0105_holding_sql),
      Migration(version: 106, name: "retiring", PackageResources.v0106_retiring_sql),
      Migration(version: 107, name: "crashes", PackageResources.v0107_crashes_sql),
      Migration(version: 108, name: "damage", PackageResources.v0108_damage_sql),
      Migration(version: 109, name: "authors", PackageResources.v0109_authors_sql),
    ]
  }
}
