package import Model
package import Postgres
import Queue
import Store

/// What a user takes along. Posts are read as lists (`posts`).
package enum Exporting: Room {
  package static let statements = Statements(
    topic: "exporting", Store.fragments, PackageResources.Export_sql)

  /// Reads the assets of posts with their sources, by the post.
  package static func assets(ofPosts posts: [PublicID], _ session: Session) throws -> [PublicID: [Asset]] {
    try assets(Self.statements["assets_of_posts"], posts, session)
  }

  /// Reads the assets of images with their sources, by the image.
  package static func assets(ofImages images: [PublicID], _ session: Session) throws -> [PublicID: [Asset]] {
    try assets(Self.statements["assets_of_images"], images, session)
  }

  private static func assets(
    _ statement: Statement, _ owners: [PublicID], _ session: Session
  ) throws -> [PublicID: [Asset]] {
    var assets: [PublicID: [Asset]] = [:]
    for row in try session.execute(statement, .texts(owners.map(\.description))) {
      assets[try row.publicID("owner"), default: []].append(try Asset(row))
    }
    return assets
  }
}
