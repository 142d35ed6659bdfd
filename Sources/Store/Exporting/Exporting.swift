package import FoundationEssentials
package import Model
package import Postgres
import Queue

/// What a user takes along. Posts are read as lists (`posts`).
package enum Exporting {
  static let statements = Statements(topic: "exporting", PackageResources.Fragments_sql, PackageResources.Export_sql)

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

extension ExportedKind<Comment> {
  package static var comments: Self { Self(Exporting.statements["comments_by_user"], Comments.comment) }
}

extension ExportedKind<StoredCollection> {
  /// With their items.
  package static var collections: Self {
    Self(Exporting.statements["collections_by_user"]) { row, user, session in
      try Collections.find(row.publicID("public_id"), for: .user(user), session)?.collection
    }
  }
}

extension ExportedKind<PlaceNote> {
  package static var notes: Self { Self(Exporting.statements["notes_by_user"], Places.note) }
}

extension ExportedKind<Report> {
  package static var reports: Self { Self(Moderation.statements["reports_by_user"], Report.init) }
}

extension ExportedKind<(place: String, description: PlaceDescription)> {
  /// What users have said of places, with the ids of the places.
  package static var descriptions: Self {
    Self(Exporting.statements["descriptions_by_user"], by: "number") {
      (try $0.get("place_id"), try PlaceDescription($0))
    }
  }
}

extension ExportedKind<ExportedRelation> {
  /// With requests, and without the blocks of others against the user.
  package static var relations: Self {
    Self(Exporting.statements["relations_by_user"]) { row in
      ExportedRelation(
        kind: try row.get("kind"), target: try row.get("target"),
        createdAt: Date(microseconds: try row.get("created_at")))
    }
  }
}

extension ExportedKind<StoredImage> {
  /// Those that users submitted, and the profile images, without assets and jobs.
  package static var images: Self {
    Self(Exporting.statements["images_by_user"]) { row, user, _ in
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
