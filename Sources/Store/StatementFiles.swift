import Postgres

/// The statements of the store, by topic.
enum StatementFiles {
  static let asset = Statements(topic: "asset", PackageResources.Asset_sql)
  static let blob = Statements(topic: "blob", PackageResources.Blob_sql)
  static let post = Statements(topic: "post", PackageResources.Post_sql)
}
