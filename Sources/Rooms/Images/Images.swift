import CRoomsSQL
import FoundationEssentials
internal import Kit
package import Model
package import Postgres
package import Queue
package import Store

/// Images: how they are read and deleted. Call `collectReleased` after the commit of a deletion.
package enum Images: RecordRoom {
  package static let statements = Statements(
    topic: "images", Store.fragments, RoomsSQL.Images)

  /// Reads an image with its assets and its job from one snapshot; nil if the viewer sees no such image.
  package static func find(_ id: PublicID, for viewer: Viewer, _ session: Session) throws -> StoredImage? {
    try session.reading { session in
      try session.execute(Store.statements["image"], .text(id.description), viewer.parameter).first
        .map { try read($0, session) }
    }
  }

  /// Reads a page of the images of an owner that have outputs and that the viewer sees, the newest first. For reactions,
  /// the caller checks that the viewer sees the post (`Posts.exists`).
  ///
  /// - Parameter authors: the authors of the images; empty: all authors.
  package static func list(
    _ kind: ImageKind, of owner: String, by authors: [String] = [], for viewer: Viewer, _ page: PageRequest,
    _ session: Session
  ) throws -> Page<StoredImage> {
    try session.snapshot { session in
      let parameters: [Parameter] = [
        .text(kind.rawValue), .text(owner), .integer(page.after?.id ?? .max), .integer(page.limit + 1),
        viewer.parameter,
      ]
      let rows = try session.execute(
        authors.isEmpty ? Self.statements["images"] : Self.statements["images_of_authors"],
        parameters + (authors.isEmpty ? [] : [.texts(authors)]))
      return try Page(rows, page) { shown in
        let (assets, jobs) = try Assets.assetsAndJobs(of: shown, session)
        return try shown.map { try read($0, assets, jobs) }
      }
    }
  }

  /// Reads the current image of an owner with one query; nil if there is none that the viewer sees.
  ///
  /// - Parameter role: the role of the asset whose content is read as well if it is stored in the database.
  package static func current(
    _ kind: ImageKind, of owner: String, role: Role, for viewer: Viewer, _ session: Session
  ) throws -> (image: StoredImage, content: StoredAsset)? {
    if kind == .itinerary, case .some(nil) = try RecordID.Kind.collection.role(owner, for: viewer, session) {
      return nil
    }
    let rows = try session.execute(
      Self.statements["current_image"], .text(kind.rawValue), .text(owner), .text(role.rawValue),
      viewer.parameter)
    guard let first = rows.first else { return nil }
    var assets: [Role: Asset] = [:]
    var content: StoredAsset?
    for row in rows {
      let asset = try Asset(row)
      assets[asset.role] = asset
      if asset.role == role { content = try StoredAsset(asset, row) }
    }
    guard let content else { return nil }
    let image = StoredImage(
      id: try first.publicID("image"),
      draft: ImageDraft(
        kind: kind, owner: owner, author: try first.get("author"), alternativeText: try first.get("alternative_text")),
      status: try first.enumValue("status"), createdAt: .init(microseconds: try first.get("created_at")),
      reasons: [], job: nil, assets: assets, isPublic: try first.get("is_public"))
    return (image, content)
  }

  /// Reads the current image of an owner, which `lock_owner` has locked; nil if there is none.
  static func locked(_ kind: ImageKind, of owner: String, _ session: Session) throws -> StoredImage? {
    try session.execute(
      Self.statements["images"], .text(kind.rawValue), .text(owner), .integer(.max), .integer(1),
      Viewer.unrestricted.parameter
    ).first.map { try read($0, session) }
  }

  static func read(_ row: Row, _ session: Session) throws -> StoredImage {
    let (assets, jobs) = try Assets.assetsAndJobs(of: [row], session)
    return try read(row, assets, jobs)
  }

  private static func read(_ row: Row, _ sets: [Int64: [Asset]], _ jobs: [PublicID: JobSummary]) throws -> StoredImage {
    let set = try row.get("asset_set_id", as: Int64?.self)
    let all = set.flatMap { sets[$0] } ?? []
    let job = try row.get("job", as: String?.self).flatMap { PublicID($0) }
    return StoredImage(
      id: try row.publicID("public_id"),
      draft: ImageDraft(
        kind: try row.enumValue("kind"), owner: try row.get("owner"), author: try row.get("author"),
        alternativeText: try row.get("alternative_text")),
      status: try row.enumValue("status"), createdAt: .init(microseconds: try row.get("created_at")),
      reasons: try row.reasons(),
      job: job.flatMap { jobs[$0] },
      assets: Dictionary(all.map { ($0.role, $0) }) { first, _ in first }, isPublic: try row.get("is_public"))
  }

  /// Reads a page of the images that a user submitted, and of the profile images, the oldest first, without assets and jobs.
  ///
  /// - Parameter last: the number of the last image of the page before; 0 for the first page.
  /// - Returns: the images, and the number of the last one.
  package static func exported(
    of user: String, after last: Int64, limit: Int, _ session: Session
  ) throws -> (items: [StoredImage], last: Int64) {
    let rows = Array(
      try session.execute(Self.statements["images_by_user"], .text(user), .integer(last), .integer(limit)))
    let images = try rows.map { row in
      StoredImage(
        id: try row.publicID("public_id"),
        draft: ImageDraft(
          kind: try row.enumValue("kind"), owner: try row.get("owner"), author: user,
          alternativeText: try row.get("alternative_text")),
        status: try row.enumValue("status"), createdAt: Date(microseconds: try row.get("created_at")), reasons: [],
        job: nil, assets: [:], isPublic: false)
    }
    return (images, try rows.last?.get("id") ?? last)
  }

  /// Inserts an image and enqueues its job; nil if it is a reaction to a post that the viewer does not see.
  ///
  /// - Parameter source: the submitted photo, with the role `source.photo`.
  /// - Throws: `QuarantineRefusal`, `ForgottenRefusal`; `OwnershipRefusal` for an image that would replace another user's.
  package static func submit(
    _ draft: ImageDraft, for viewer: Viewer, source: NewAsset, definition: PhotoDefinition, request: JobRequest?,
    _ store: Store, _ session: Session
  ) throws -> PublicID? {
    try Store.requireUsers(draft.kind == .profile ? draft.owner : nil, draft.author, in: session)
    if draft.kind == .reaction {
      guard PublicID(draft.owner) != nil,
        try !session.execute(statements["has_post"], .text(draft.owner), viewer.parameter).isEmpty
      else { return nil }
    }
    try requireOwner(of: draft.kind, draft.owner, viewer, session)
    return try store.submitImage(draft, source: source, definition: definition, request: request, session)
  }

  /// Deletes an image of the viewer's, or a reaction to a post of the viewer's, and updates the reaction count of the
  /// post; false if the viewer sees no image of this kind and owner with this id.
  ///
  /// - Parameter check: receives the locked image; the caller must roll back if it throws.
  /// - Throws: `OwnershipRefusal`.
  package static func delete(
    _ id: PublicID, _ kind: ImageKind, of owner: String, for viewer: Viewer, _ session: Session,
    check: (StoredImage) throws -> Void
  ) throws -> Bool {
    func image(for viewer: Viewer) throws -> Row? {
      try session.execute(Store.statements["image"], .text(id.description), viewer.parameter).first
    }
    guard let row = try image(for: viewer), try row.enumValue("kind") == kind,
      try row.get("owner", as: String.self) == owner
    else { return false }
    try viewer.require(owner: try row.get("author"), try row.get("post_author"))
    if let job = try row.get("job", as: String?.self).flatMap({ PublicID($0) }) {
      _ = try JobQueue.cancel(job, session)
    }
    if kind == .reaction {
      try session.execute(Store.statements["lock_post"], .text(owner), Viewer.unrestricted.parameter)
    }
    // The job is locked: the status no longer changes. What the viewer saw goes, also if the viewer may not see it any
    // more: it has lost its job.
    guard let now = try image(for: .unrestricted) else { return false }
    try check(Self.read(now, session))
    let isCounted = try now.enumValue("status") == ImageStatus.ready && !now.get("is_hidden", as: Bool.self)
    if kind == .reaction, isCounted {
      try session.execute(Store.statements["count_reactions"], .text(id.description), .integer(-1))
    }
    let dropped = try session.execute(Self.statements["drop_image"], .text(id.description))
    try Assets.release(dropped, session)
    return !dropped.isEmpty
  }

  /// Deletes all images of an owner, including those that are processing; false if there were none.
  ///
  /// - Parameter check: receives the current image, if there is one; the caller must roll back if it throws.
  /// - Throws: `OwnershipRefusal` unless the viewer is the user whose profile image it is, or the author of all images.
  package static func deleteAll(
    _ kind: ImageKind, of owner: String, for viewer: Viewer, _ session: Session, check: (StoredImage?) throws -> Void
  ) throws -> Bool {
    try requireOwner(of: kind, owner, viewer, session)
    try cancel(kind, of: owner, session)
    try check(locked(kind, of: owner, session))
    let dropped = try session.execute(Self.statements["drop_images"], .text(kind.rawValue), .text(owner))
    try Assets.release(dropped, session)
    return !dropped.isEmpty
  }

  /// Cancels the jobs of the images of an owner that has one at a time, and locks the owner until the transaction ends.
  static func cancel(_ kind: ImageKind, of owner: String, _ session: Session) throws {
    try JobControl.cancelJobs(
      session.execute(Self.statements["jobs_of_images"], .text(kind.rawValue), .text(owner)), session)
    try session.execute(Self.statements["lock_owner"], .text(kind.rawValue), .text(owner))
  }

  /// Throws unless the viewer may replace and delete the image of an owner that has one at a time.
  static func requireOwner(of kind: ImageKind, _ owner: String, _ viewer: Viewer, _ session: Session) throws {
    guard let user = viewer.user else { return }
    switch kind {
    case .profile: try viewer.require(owner: owner)
    case .itinerary:
      try session.execute(Self.statements["lock_itinerary"], .text(owner))
      if let role = try RecordID.Kind.collection.role(owner, for: viewer, session) {
        guard role?.mayEdit == true else { throw OwnershipRefusal() }
        return
      }
      let foreign = try session.execute(Self.statements["has_foreign_thumbnail"], .text(owner), .text(user))
      guard foreign.isEmpty else { throw OwnershipRefusal() }
    case .reaction, .place: break
    }
  }
}
