import CRoomsSQL
package import Model
package import Postgres
import Queue
import Store

/// What a user takes along. Posts are read as lists (`posts`).
package enum Exporting: Room {
  package static let statements = Statements(
    topic: "exporting", Store.fragments, RoomsSQL.Export)

  /// Reads the assets of posts with their sources, by the post.
  package static func assets(ofPosts posts: [PublicID], _ session: Session) throws -> [PublicID: [Asset]] {
    try assets(Self.statements["assets_of_posts"], posts, session)
  }

  /// Reads the assets of images with their sources, by the image.
  package static func assets(ofImages images: [PublicID], _ session: Session) throws -> [PublicID: [Asset]] {
    try assets(Self.statements["assets_of_images"], images, session)
  }

  /// Counts what a user has made, which goes with the user.
  package static func belongings(of user: String, _ session: Session) throws -> Belongings {
    let row = try session.execute(Self.statements["belongings"], .text(user)).single()
    return Belongings(
      posts: try row.get("posts"), images: try row.get("images"), comments: try row.get("comments"),
      collections: try row.get("collections"), files: try row.get("files"), bytes: try row.get("bytes"))
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

/// How much a user has made.
package struct Belongings: Encodable, Sendable, Hashable {
  package let posts: Int
  package let images: Int
  package let comments: Int
  package let collections: Int
  /// The media of the posts and images, with their sources, and their bytes.
  package let files: Int
  package let bytes: Int64
}
