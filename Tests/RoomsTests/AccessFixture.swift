import Blobs
import Crypto
import Definitions
import FoundationEssentials
import HTTPTesting
import Model
import Postgres
import Queue
import Store
import Testing
import WaitTesting

@testable import Kit
@testable import Rooms

/// A post of Ada's with everything that belongs to it, and what else Ada and Bob have, for one request of the table.
struct AccessFixture: Sendable {
  let post: PublicID
  let postAsset: PublicID
  /// The comments and the reactions, by their author.
  let comments: [String: PublicID]
  let reactions: [String: PublicID]
  let placeComments: [String: PublicID]
  let collection: PublicID
  let collectionComment: PublicID
  /// Of Bob's comment by Ada, and its case.
  let report: PublicID
  let moderationCase: PublicID
  let reactionAsset: PublicID
  let placePhoto: PublicID
  let job: PublicID
  let token: PublicID
  /// With a delivery.
  let webhook: PublicID
  let delivery: String
  /// An upload of Ada's without bytes.
  let upload: PublicID
  /// A reprocessing run without items.
  let run: PublicID
  /// The hash of quarantined media.
  let quarantined: String
  /// An itinerary and a place of this fixture alone.
  let place: String
  /// The month of the post, such as `2026-11`.
  let month: String

  init(_ api: RunningAPI, visibility: Visibility) async throws {
    let store = api.store
    let definition = try #require(try Definitions.photo("photo-post"))
    var draft = PostDraft(kind: .marker, author: "ada", title: "Here", visibility: visibility)
    draft.location = Coordinate(latitude: 52.5, longitude: 13.4)
    let upload = UploadRecord(
      user: "ada", length: 5, metadata: nil, createdAt: .now, expiresAt: .now.addingTimeInterval(3600))
    try api.blobs.uploads().create(upload)
    self = try await api.pool.transaction { [draft] session in
      // The request before may have started the deletion of Ada.
      try session.execute("DELETE FROM forgetting")
      let post = try store.submitPost(draft, sources: [], definition: .photos(definition), request: nil, session)
      let (set, postAsset) = try Self.insertAsset(.poster, session)
      try session.execute(
        "UPDATE post SET asset_set_id = $1::bigint WHERE public_id = $2::uuid", .integer(set), .text("\(post)"))
      var comments: [String: PublicID] = [:]
      var reactions: [String: PublicID] = [:]
      var reactionAsset = PublicID.now()
      for user in ["bob", "ada"] {
        let comment = try Comments.insert(on: .post(post), for: .unrestricted, author: user, text: "Nice", session)
        comments[user] = try #require(comment).id
        let (reaction, asset) = try Self.insertImage(.reaction, of: "\(post)", by: user, session)
        reactions[user] = reaction
        reactionAsset = asset
      }
      let place = "place-\(post)"
      _ = try Self.insertImage(.profile, of: "ada", by: "ada", session)
      _ = try Self.insertImage(.itinerary, of: place, by: "ada", session)
      let (placePhoto, _) = try Self.insertImage(.place, of: place, by: "ada", session)
      let job = PublicID.now()
      try JobQueue.enqueue(
        NewJob(
          publicID: job, queue: "access", kind: "post", deadlineSeconds: 60, author: "ada", arguments: Array("{}".utf8)),
        session)
      _ = try JobQueue.cancel(job, session)
      let token = try Tokens.insert(
        of: "ada", hash: SHA256.digest(of: Array("\(post)".utf8)), minter: .operatorKey, grant: nil, lifetime: 60,
        session)
      try People.save(ProfileChange(Profile(userName: "ada")), of: "ada", for: .unrestricted, session)
      for (kind, target) in Self.relations(post: post, place: place) {
        _ = try Relations.relate("ada", kind, to: target, for: .unrestricted, session)
        guard kind == .friend else { continue }
        _ = try Relations.relate(target, kind, to: "ada", for: .unrestricted, session)
      }
      _ = try Places.describe(place, PlaceDescription(name: "Here"), for: .user("ada"), session) { _ in }
      let device = try DeviceDraft(token: "\(token.id)", fields: ["platform": .string("fcm")])
      _ = try Devices.save(
        device, named: "\(token.id)", of: "ada", by: .anonymous, zones: KnownTimeZones(), session
      ) { _ in }
      _ = try Places.saveNote("Mine", of: "ada", about: place, session) { _ in }
      _ = try Places.rate(place, halves: 8, by: "ada", for: .unrestricted, session) { _ in }
      var placeComments: [String: PublicID] = [:]
      for user in ["bob", "ada"] {
        let comment = try Comments.insert(on: .place(place), for: .unrestricted, author: user, text: "Nice", session)
        placeComments[user] = try #require(comment).id
      }
      let kind = try #require(try Definitions.collections()["itinerary"])
      let content = CollectionContent(name: "Trip", visibility: visibility, fields: [:], items: [])
      let collection = try Collections.create(kind, content, by: "ada", for: .unrestricted, session)
      _ = try Self.insertImage(.itinerary, of: "\(collection)", by: "ada", session)
      let link = SHA256.digest(of: Array(Self.link(post).utf8)).bytes
      #expect(try Collections.setLink(link, of: collection, for: .unrestricted, session))
      let member = "\(RelationKind.friend.name)-\(post)"
      let shared = try Collections.share(
        collection, with: member, as: .viewer, for: .unrestricted, link: nil, session)
      #expect(shared == .changed)
      let onCollection = try Comments.insert(
        on: .collection(collection), for: .unrestricted, author: "ada", text: "Nice", session)
      let collectionComment = try #require(onCollection).id
      let reported = try Moderation.report(
        .comment(comments["bob"] ?? post), for: .unrestricted, author: "ada", reason: "spam", text: nil, session)
      let report = try #require(reported).report.id
      let cases = try Moderation.list(.open, PageRequest(limit: 1), session)
      let moderationCase = try #require(cases.items.first).id
      // Those of other requests get nothing of this one.
      try session.execute("UPDATE webhook SET disabled_at = clock_timestamp(), disabled_cause = 'operator'")
      let webhook = try Webhooks.create(url: "https://app.example.org/", kinds: [.webhookDisabled], session).webhook.id
      try Store.notify(UserEvent.service, of: .webhookDisabled, by: nil, subject: post, session)
      let deadline = Deadline("the last event")
      while try Events.placeNext(session) { try deadline.check() }
      try session.execute("UPDATE webhook_delivery SET state = 'delivered', next_at = NULL")
      let deliveries = try Webhooks.deliveries(to: webhook, nil, PageRequest(limit: 1), session)
      let delivery = try #require(deliveries?.items.first).id
      // Who may send a test is asked of each fixture, whichever was the last.
      try session.execute("UPDATE webhook SET disabled_at = NULL, disabled_cause = NULL WHERE deleted_at IS NULL")
      let run = PublicID.now()
      try session.execute(
        "INSERT INTO reprocess_run (public_id, selection) VALUES ($1::uuid, '{}')", .text("\(run)"))
      let quarantined = try Self.quarantine(SHA256.digest(of: Array("\(post)".utf8)), session)
      let month = try session.execute(
        "SELECT to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM') FROM post WHERE public_id = $1::uuid",
        .text("\(post)")
      ).single().get(0, as: String.self)
      return AccessFixture(
        post: post, postAsset: postAsset, comments: comments, reactions: reactions,
        placeComments: placeComments, collection: collection, collectionComment: collectionComment,
        report: report, moderationCase: moderationCase,
        reactionAsset: reactionAsset,
        placePhoto: placePhoto, job: job, token: token.id, webhook: webhook, delivery: delivery,
        upload: upload.id, run: run, quarantined: quarantined, place: place, month: month)
    }
  }

  private init(
    post: PublicID, postAsset: PublicID, comments: [String: PublicID], reactions: [String: PublicID],
    placeComments: [String: PublicID], collection: PublicID, collectionComment: PublicID, report: PublicID,
    moderationCase: PublicID, reactionAsset: PublicID,
    placePhoto: PublicID, job: PublicID, token: PublicID, webhook: PublicID, delivery: String,
    upload: PublicID, run: PublicID, quarantined: String, place: String,
    month: String
  ) {
    self.post = post
    self.postAsset = postAsset
    self.comments = comments
    self.reactions = reactions
    self.placeComments = placeComments
    self.collection = collection
    self.collectionComment = collectionComment
    self.report = report
    self.moderationCase = moderationCase
    self.reactionAsset = reactionAsset
    self.placePhoto = placePhoto
    self.job = job
    self.token = token
    self.webhook = webhook
    self.delivery = delivery
    self.upload = upload
    self.run = run
    self.quarantined = quarantined
    self.place = place
    self.month = month
  }

  /// The secret of the link of the collection.
  private static func link(_ post: PublicID) -> String { "t5l_\(post)" }

  /// What Ada has relations to.
  private static func relations(post: PublicID, place: String) -> [(kind: RelationKind, target: String)] {
    RelationKind.all.map { kind in
      switch kind.target {
      case .user: (kind, "\(kind.name)-\(post)")
      case .post: (kind, "\(post)")
      case .place: (kind, place)
      }
    }
  }

  /// Inserts an asset whose content is in the database.
  private static func insertAsset(_ role: Role, _ session: Session) throws -> (set: Int64, asset: PublicID) {
    let content = Array("image".utf8)
    let hash = SHA256.digest(of: content).bytes
    try session.execute(
      "INSERT INTO blob (hash, bytes, inline_content) VALUES ($1, 5, $2) ON CONFLICT DO NOTHING", .bytes(hash),
      .bytes(content))
    let set: Int64 = try session.execute(
      "INSERT INTO asset_set (public_id) VALUES ($1::uuid) RETURNING id", .text("\(PublicID.now())")
    ).single().get("id")
    let asset = PublicID.now()
    try session.execute(
      """
      INSERT INTO asset (public_id, asset_set_id, role, blob, type, bytes)
      VALUES ($1::uuid, $2::bigint, $3, $4, 'image/jpeg', 5)
      """, .text("\(asset)"), .integer(set), .text(role.rawValue), .bytes(hash))
    return (set, asset)
  }

  /// Inserts an image that is ready.
  private static func insertImage(
    _ kind: ImageKind, of owner: String, by author: String, _ session: Session
  ) throws -> (image: PublicID, asset: PublicID) {
    let (set, asset) = try insertAsset(kind == .profile ? .avatar : .photoMedium, session)
    let image = PublicID.now()
    try session.execute(
      """
      INSERT INTO image (public_id, kind, owner, author, status, asset_set_id, post_id)
      VALUES ($1::uuid, $2, $3, $4, 'ready', $5::bigint,
        (SELECT id FROM post WHERE $2 = 'reaction' AND public_id::text = $3))
      """, .text("\(image)"), .text(kind.rawValue), .text(owner), .text(author), .integer(set))
    return (image, asset)
  }

  /// Quarantines media without files; returns their hash.
  private static func quarantine(_ hash: SHA256Digest, _ session: Session) throws -> String {
    try session.execute(
      "INSERT INTO definition (hash, name, version, body) VALUES ($1, 'photo-post', 1, '{}') ON CONFLICT DO NOTHING",
      .bytes(SHA256.digest(of: []).bytes))
    try session.execute(
      """
      INSERT INTO media_crash (inputs, crashes, last_error, kind, code, definition, version, quarantined_at)
      VALUES ($1, 2, 'SIGSEGV', 'photo', 'decoder_crashed', $2, '1', clock_timestamp())
      """, .bytes(hash.bytes), .bytes(SHA256.digest(of: []).bytes))
    return hash.hex
  }

  private static let tus = [("Tus-Resumable", "1.0.0")]

  /// A request of a row: its path, its body and the type of the body.
  struct Sent {
    var path: String
    var type: String?
    var body: [UInt8]?
    var headers: [(String, String)] = []
  }

  /// Returns the request of a row.
  ///
  /// - Parameter author: the author that the request names; nil: none.
  func request(_ row: AccessTable.Row, author: String?) -> Sent {
    let commenter = row.note == "by Bob" ? "bob" : "ada"
    let isOfPost = row.template.hasPrefix("/v1/posts/")
    let id: String =
      switch row.template.split(separator: "/").dropFirst().first ?? "" {
      case "users": row.note == "by Bob" ? "bob" : "ada"
      case "itineraries", "places": place
      case "collections": "\(collection)"
      case "jobs": "\(job)"
      case "images": "\(reactions["ada"] ?? post)"
      case "uploads": "\(upload)"
      case "reports": "\(report)"
      case "moderation": "\(moderationCase)"
      case "webhooks": "\(webhook)"
      case "operations": "\(run)"
      default: "\(post)"
      }
    let comment =
      row.template.hasPrefix("/v1/collections/")
      ? collectionComment : (isOfPost ? comments : placeComments)[commenter] ?? post
    let image = isOfPost ? reactions[commenter] : placePhoto
    var path = row.template.replacing("{id}", with: id)
      .replacing("{comment}", with: "\(comment)").replacing("{user}", with: "\(RelationKind.friend.name)-\(post)")
      .replacing("{place}", with: place).replacing("{image}", with: "\(image ?? post)")
      .replacing("{asset}", with: "\(row.note == "of the post" ? postAsset : reactionAsset)")
      .replacing("{token}", with: "\(token)").replacing("{session}", with: "\(token)").replacing(
        "{delivery}", with: delivery
      ).replacing("{hash}", with: quarantined)
    for (kind, target) in Self.relations(post: post, place: place) where path.contains("/\(kind.path)/") {
      path = path.replacing("{other}", with: target)
    }
    let every = "visibility=public&visibility=friends&visibility=private"
    let named = author.map { #""author":"\#($0)","# } ?? ""
    switch "\(row.method) \(row.template)" {
    case "GET /v1/users": path += "?query=ada"
    case "PUT /v1/users/{id}": return .init(path, json: #"{"user_name":"ada"}"#)
    case "PATCH /v1/users/{id}": return .init(path, json: #"{"bio":"calm"}"#)
    case "GET /v1/posts": path += "?author=ada&\(every)"
    case "GET /v1/users/{id}/calendar": path += "?month=\(month)"
    case "POST /v1/posts": return .init(path, json: #"{\#(named)"kind":"marker","title":"There"}"#)
    case "POST /v1/uploads": return Sent(path: path, headers: Self.tus + [("Upload-Length", "5")])
    case "GET /v1/uploads/{id}", "DELETE /v1/uploads/{id}": return Sent(path: path, headers: Self.tus)
    case "PATCH /v1/uploads/{id}", "POST /v1/uploads/{id}":
      return Sent(
        path: path, type: "application/offset+octet-stream", body: Array("image".utf8),
        headers: Self.tus + [("Upload-Offset", "0"), ("X-HTTP-Method-Override", "PATCH")])
    case "POST /v1/posts/search":
      let ring = "[[13,52],[14,52],[14,53],[13,53],[13,52]]"
      return .init(
        path,
        json: #"{"polygon":{"type":"Polygon","coordinates":[\#(ring)]},"visibility":["public","friends","private"]}"#)
    case "POST /v1/reports": return .init(path, json: #"{\#(named)"post":"\#(post)","reason":"spam"}"#)
    case "POST /v1/moderation/cases": return .init(path, json: #"{"post":"\#(post)"}"#)
    case "POST /v1/moderation/cases/{id}/decision": return .init(path, json: #"{"decision":"approve"}"#)
    case "POST /v1/webhooks": return .init(path, json: #"{"url":"https://app.example.org/","kinds":["like"]}"#)
    case "PATCH /v1/webhooks/{id}": return .init(path, json: #"{"state":"disabled"}"#)
    case "POST /v1/webhooks/{id}/replay": return .init(path, json: "{}")
    case "PATCH /v1/posts/{id}": return .init(path, json: #"{"caption":"calm"}"#)
    case "POST /v1/collections": return .init(path, json: #"{\#(named)"kind":"itinerary","name":"Trip"}"#)
    case "GET /v1/collections": path += "?user=ada"
    case "GET /v1/collections/{id}": path += row.note == "with the link" ? "?link=\(Self.link(post))" : ""
    case "PUT /v1/posts/{id}/photos":
      return Sent(
        path: path, type: "application/json", body: Array(#"{"photos":[]}"#.utf8), headers: [("If-Match", "*")])
    case "PATCH /v1/collections/{id}":
      return Sent(
        path: path, type: "application/json", body: Array(#"{"name":"Tour"}"#.utf8), headers: [("If-Match", "*")])
    case "PUT /v1/collections/{id}/members/{user}": return .init(path, json: #"{"role":"editor"}"#)
    case "POST /v1/places", "PUT /v1/places/{id}": return .init(path, json: #"{"name":"There"}"#)
    case "POST /console/session": return .init(path, json: #"{"key":"t5_unknown"}"#)
    case "POST /v1/operations/jobs": return .init(path, json: #"{"action":"retry","filter":{},"dry_run":true}"#)
    case "POST /v1/operations/runs": return .init(path, json: #"{"dry_run":true}"#)
    case "PATCH /v1/operations/runs/{id}": return .init(path, json: #"{"state":"paused"}"#)
    case "PUT /v1/push/messages/{id}":
      return .init("/v1/push/messages/\(PublicID.now())", json: #"{"texts":{"en":{"title":"Tonight","body":"Pause"}}}"#)
    case "PUT /v1/window/schedule": return .init(path, json: #"{"schedule":"18:00-18:05 UTC"}"#)
    case "PUT /v1/users/{id}/devices/{token}": return .init(path, json: #"{"platform":"fcm"}"#)
    case "PATCH /v1/posts/{id}/comments/{comment}", "PATCH /v1/places/{id}/comments/{comment}",
      "PATCH /v1/collections/{id}/comments/{comment}":
      return .init(path, json: #"{"text":"Calm"}"#)
    case "PUT /v1/users/{id}/favourites": return .init(path, json: #"{"places":["\#(place)"]}"#)
    case "PUT /v1/users/{id}/ratings/{place}": return .init(path, json: #"{"rating":4.5}"#)
    case "PUT /v1/users/{id}/notes/{place}": return .init(path, json: #"{"text":"Nice"}"#)
    case "POST /v1/posts/{id}/comments", "POST /v1/places/{id}/comments", "POST /v1/collections/{id}/comments":
      return .init(path, json: #"{\#(named)"text":"Nice"}"#)
    case "POST /v1/accounts", "POST /v1/sessions":
      let name = "u\(UInt64.random(in: 0 ..< .max))"
      return .init(path, json: #"{"user_name":"\#(name)","password":"correct horse"}"#)
    case "POST /v1/sessions/refresh": return .init(path, json: #"{"refresh_token":"t5r_unknown"}"#)
    case "POST /v1/password-resets": return .init(path, json: #"{"user_name":"unknown"}"#)
    case "PUT /v1/password-resets":
      let name = "u\(UInt64.random(in: 0 ..< .max))"
      return .init(path, json: #"{"user_name":"\#(name)","code":"7K3M9QXZ","password":"correct horse"}"#)
    case "PUT /v1/accounts/current/verification": return .init(path, json: #"{"code":"7K3M9QXZ"}"#)
    case "PUT /v1/accounts/current/password":
      return .init(path, json: #"{"former_password":"correct horse","password":"battery staple"}"#)
    case "PUT /v1/users/{id}/password": return .init(path, json: #"{"password":"battery staple"}"#)
    case "POST /v1/users/{id}/tokens": return .init(path, json: "{}")
    case "POST /v1/posts/{id}/reactions", "POST /v1/places/{id}/photos":
      var form = MultipartForm()
      form.add("image", filename: "a.jpg", contentType: "image/jpeg", PhotoSubmissionTests.jpeg)
      if let author { form.add("author", contentType: "text/plain", Array(author.utf8)) }
      return Sent(path: path, type: form.contentType, body: form.bytes)
    case "PUT /v1/users/{id}/profile-image", "PUT /v1/itineraries/{id}/thumbnail",
      "PUT /v1/collections/{id}/thumbnail":
      return Sent(path: path, type: "image/jpeg", body: PhotoSubmissionTests.jpeg)
    default: break
    }
    return Sent(path: path)
  }
}

extension AccessFixture.Sent {
  init(_ path: String, json: String) {
    self.init(path: path, type: "application/json", body: Array(json.utf8))
  }
}
