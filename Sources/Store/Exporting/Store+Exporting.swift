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
}

extension ExportedKind<Comment> {
  package static var comments: Self { Self(Store.exporting["comments_by_user"], Store.comment) }
}

extension ExportedKind<StoredCollection> {
  /// With their items.
  package static var collections: Self {
    Self(Store.exporting["collections_by_user"]) { row, user, store, session in
      try store.collection(row.publicID("public_id"), for: .user(user), session)?.collection
    }
  }
}

extension ExportedKind<PlaceNote> {
  package static var notes: Self { Self(Store.exporting["notes_by_user"], Store.note) }
}

extension ExportedKind<Report> {
  package static var reports: Self { Self(Store.statements["reports_by_user"], Report.init) }
}

extension ExportedKind<(place: String, description: PlaceDescription)> {
  /// What users have said of places, with the ids of the places.
  package static var descriptions: Self {
    Self(Store.exporting["descriptions_by_user"], by: "number") {
      (try $0.get("place_id"), try PlaceDescription($0))
    }
  }
}

extension ExportedKind<ExportedRelation> {
  /// With requests, and without the blocks of others against the user.
  package static var relations: Self {
    Self(Store.exporting["relations_by_user"]) { row in
      ExportedRelation(
        kind: try row.get("kind"), target: try row.get("target"),
        createdAt: Date(microseconds: try row.get("created_at")))
    }
  }
}

extension ExportedKind<StoredImage> {
  /// Those that users submitted, and the profile images, without assets and jobs.
  package static var images: Self {
    Self(Store.exporting["images_by_user"]) { row, user, _, _ in
      StoredImage(
        id: try row.publicID("public_id"),
        draft: ImageDraft(
          kind: try row.enumValue("kind"), owner: try row.get("owner"), author: user,
          alternativeText: try row.get("alternative_text")),
        status: try row.enumValue("status"), createdAt: Date(microseconds: try row.get("created_at")), reasons: [],
        job: nil, assets: [:], isPublic: false)
    }
  }
}

/// A relation of a user, or a request for it, as it is stored.
package struct ExportedRelation: Encodable, Sendable, Hashable {
  package let kind: String
  package let target: String
  package let createdAt: Date
}
