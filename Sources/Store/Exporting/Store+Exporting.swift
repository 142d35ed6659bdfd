package import FoundationEssentials
package import Model
package import Postgres
import Queue

/// What a user takes along. Posts are read as lists (`posts`).
extension Store {
  static let exporting = Statements(
    topic: "exporting", PackageResources.Export_sql, PackageResources.CommentColumns_sql)

  /// Reads the assets of posts with their sources, by the post.
  package func allAssets(ofPosts posts: [PublicID], _ session: Session) throws -> [PublicID: [Asset]] {
    try allAssets(Self.exporting["assets_of_posts"], posts, session)
  }

  /// Reads the assets of images with their sources, by the image.
  package func allAssets(ofImages images: [PublicID], _ session: Session) throws -> [PublicID: [Asset]] {
    try allAssets(Self.exporting["assets_of_images"], images, session)
  }

  private func allAssets(
    _ statement: Statement, _ owners: [PublicID], _ session: Session
  ) throws -> [PublicID: [Asset]] {
    var assets: [PublicID: [Asset]] = [:]
    for row in try session.execute(statement, .texts(owners.map(\.description))) {
      assets[try row.publicID("owner"), default: []].append(try Asset(row))
    }
    return assets
  }

  /// Reads the comments that a user wrote, the oldest first.
  ///
  /// - Parameter number: that of the last record of the page before; 0 for the first page.
  /// - Returns: the comments, and the number of the last one.
  package func comments(
    by user: String, after number: Int64, limit: Int, _ session: Session
  ) throws -> (items: [Comment], last: Int64) {
    let rows = Array(
      try session.execute(Self.exporting["comments_by_user"], .text(user), .integer(number), .integer(limit)))
    return (try rows.map(Self.comment), try rows.last?.get("id") ?? number)
  }

  /// Reads the collections of a user with their items, the oldest first.
  package func collections(
    by user: String, after number: Int64, limit: Int, _ session: Session
  ) throws -> (items: [StoredCollection], last: Int64) {
    let rows = Array(
      try session.execute(Self.exporting["collections_by_user"], .text(user), .integer(number), .integer(limit)))
    let collections = try rows.compactMap { row in
      try collection(row.publicID("public_id"), for: .user(user), session)?.collection
    }
    return (collections, try rows.last?.get("id") ?? number)
  }

  /// Reads the notes of a user, the oldest first.
  package func notes(
    by user: String, after number: Int64, limit: Int, _ session: Session
  ) throws -> (items: [PlaceNote], last: Int64) {
    let rows = Array(
      try session.execute(Self.exporting["notes_by_user"], .text(user), .integer(number), .integer(limit)))
    return (try rows.map(Self.note), try rows.last?.get("id") ?? number)
  }

  /// Reads what a user has said of places, the oldest first, with the ids of the places.
  package func descriptions(
    by user: String, after number: Int64, limit: Int, _ session: Session
  ) throws -> (items: [(place: String, description: PlaceDescription)], last: Int64) {
    let rows = Array(
      try session.execute(Self.exporting["descriptions_by_user"], .text(user), .integer(number), .integer(limit)))
    return (try rows.map { (try $0.get("place_id"), try PlaceDescription($0)) }, try rows.last?.get("number") ?? number)
  }

  /// Reads the relations that a user has, and has asked for, the oldest first. Who has blocked the user is not among them.
  package func relations(
    by user: String, after number: Int64, limit: Int, _ session: Session
  ) throws -> (items: [ExportedRelation], last: Int64) {
    let rows = Array(
      try session.execute(Self.exporting["relations_by_user"], .text(user), .integer(number), .integer(limit)))
    let relations = try rows.map { row in
      ExportedRelation(
        kind: try row.get("kind"), target: try row.get("target"),
        createdAt: Date(microseconds: try row.get("created_at")))
    }
    return (relations, try rows.last?.get("id") ?? number)
  }

  /// Reads the images that a user submitted, and the profile images, the oldest first, without assets and jobs.
  package func images(
    by user: String, after number: Int64, limit: Int, _ session: Session
  ) throws -> (items: [StoredImage], last: Int64) {
    let rows = Array(
      try session.execute(Self.exporting["images_by_user"], .text(user), .integer(number), .integer(limit)))
    let images = try rows.map { row in
      StoredImage(
        id: try row.publicID("public_id"),
        draft: ImageDraft(
          kind: try row.enumValue("kind"), owner: try row.get("owner"), author: user,
          alternativeText: try row.get("alternative_text")),
        status: try row.enumValue("status"), createdAt: Date(microseconds: try row.get("created_at")), reasons: [],
        job: nil, assets: [:], isPublic: false)
    }
    return (images, try rows.last?.get("id") ?? number)
  }
}

/// A relation of a user, or a request for it, as it is stored.
package struct ExportedRelation: Encodable, Sendable, Hashable {
  package let kind: String
  package let target: String
  package let createdAt: Date
}
