import HTTPTesting
import MediaFixtures
import PostgresTesting
import Take5Testing
import Testing
import WaitTesting

/// Clients that change the same users, posts, places and collections at the same time, in every pair of ways.
@Suite("Requests that conflict", .tags(.process), .serialized, .timeLimit(.minutes(60)))
struct ConflictTests {
  private static let clients = 16
  private static let requests = 40

  @Test("sixteen clients that change the same get no 5xx, and leave neither dead jobs nor wrong counters")
  func conflicts() async throws {
    let service = try await Service(workers: 2, ["--author-submissions", "1000000"])
    let scene = Scene(
      port: try service.api().port, photo: try PhotoFixture.jpeg(PhotoFixture.quarters(width: 320, height: 240)))
    for user in 0..<Scene.users { try await scene.send("PUT", "/v1/users/u\(user)", "u\(user)", #"{"bio":"Here"}"#) }
    try await withThrowingTaskGroup { group in
      for client in 0..<Self.clients {
        group.addTask {
          var random = SeededRandom(state: UInt64(client) + 1)
          for _ in 0..<Self.requests { try await scene.act(&random) }
        }
      }
      try await group.waitForAll()
    }
    #expect(scene.failures.withLock { $0 } == [])
    for unfinished in ["job", "forgetting", "awaited_upload"] {
      try await until { try await service.count("SELECT count(*)::int FROM \(unfinished)") == 0 }
    }
    for (subject, condition) in Self.wrong {
      let found = try await service.count("SELECT count(*)::int FROM \(subject) WHERE \(condition)")
      #expect(found == 0, "\(subject): \(condition)")
    }
    #expect(try await service.count(Self.unevenMap) == 0)
    #expect(try await service.stop() == 0)
    let verify = try await Take5Command.run(["verify", "--data", service.data])
    #expect(verify.status == 0, "\(verify.output)")
  }

  /// What no table may have in the end.
  private static let wrong = [
    ("job_dead", "true"), ("post", "status NOT IN ('ready')"), ("image", "status IN ('processing', 'failed')"),
    ("post", "comment_count <> (SELECT count(*) FROM comment WHERE post_id = post.id)"),
    ("post", "reaction_count <> (SELECT count(*) FROM image WHERE post_id = post.id AND status = 'ready')"),
    ("post", "like_count <> (SELECT count(*) FROM relation WHERE kind = 'like' AND target = post.public_id::text)"),
    ("app_user", "friends <> (SELECT count(*) FROM relation WHERE kind = 'friend' AND user_id = app_user.id)"),
    ("app_user", "public_posts <> (SELECT count(*) FROM post WHERE author = app_user.id AND status = 'ready')"),
    ("place", "post_count <> (SELECT count(*) FROM post WHERE place_id = place.id AND status = 'ready')"),
    (
      "place",
      "author_count <> (SELECT count(DISTINCT author) FROM post WHERE place_id = place.id AND status = 'ready')"
    ),
    ("place", "favourite_count <> (SELECT count(*) FROM relation WHERE kind = 'favourite' AND target = place.id)"),
    ("place", "collection_count <> (SELECT count(*) FROM collection_item WHERE place_id = place.id)"),
    ("place", "comment_count <> (SELECT count(*) FROM comment WHERE place_id = place.id)"),
    ("collection", "item_count <> (SELECT count(*) FROM collection_item WHERE collection_id = collection.id)"),
    ("collection", "member_count <> (SELECT count(*) FROM collection_member WHERE collection_id = collection.id)"),
    ("collection", "comment_count <> (SELECT count(*) FROM comment WHERE collection_id = collection.id)"),
  ]

  /// The difference between the posts on the map and those that it counts.
  private static let unevenMap = """
    SELECT abs((SELECT coalesce(sum(posts), 0) FROM map_activity WHERE level = 3 AND period = 'month')
      - (SELECT count(*) FROM post WHERE map_cell IS NOT NULL AND status = 'ready'))::int
    """
}

/// A few users, places, posts and collections, and the requests that change them.
private struct Scene: Sendable {
  static let users = 5
  private static let places = 4

  let port: UInt16
  let photo: [UInt8]
  let posts = Shared<[String]>([])
  let collections = Shared<[String]>([])
  /// The responses that say that the service has failed.
  let failures = Shared<[String]>([])

  /// Sends a request of a user, of JSON or of a photo.
  @discardableResult
  func send(
    _ method: String, _ path: String, _ user: String?, _ json: String? = nil, photo: [UInt8]? = nil,
    headers: [(String, String)] = []
  ) async throws -> API.Response {
    let type = json != nil ? "application/json" : photo != nil && headers.isEmpty ? "image/jpeg" : nil
    let all = (user.map { [("Take5-User", $0)] } ?? []) + (type.map { [("Content-Type", $0)] } ?? []) + headers
    let response = try await request(
      method, path, port: port, headers: all, body: json.map { Array($0.utf8) } ?? photo)
    if response.status >= 500 {
      failures.withLock { $0.append("\(method) \(path): \(response.status) \(response.text)") }
    }
    return API.Response(response: response)
  }

  /// Sends one request, or the few of an upload.
  func act(_ random: inout SeededRandom) async throws {
    func below(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
    func any(_ list: Shared<[String]>) -> String? {
      let number = below(1 << 20)
      return list.withLock { $0.isEmpty ? nil : $0[number % $0.count] }
    }
    let (user, other) = ("u\(below(Self.users))", "u\(below(Self.users))")
    let place = "p\(below(Self.places))"
    let location = #"{"latitude":\#(below(3) * 20),"longitude":\#(below(3) * 100 - 100)}"#
    let described = #"{"id":"\#(place)","name":"\#(user)"}"#
    let (post, collection) = (any(posts), any(collections))
    let items =
      (0..<Self.places).shuffled(by: &random).prefix(1 + below(3)).map { #"{"place":"p\#($0)"}"# }
      + (post.map { [#"{"post":"\#($0)"}"#] } ?? [])
    let content = #"{"kind":"itinerary","name":"Trip","items":[\#(items.joined(separator: ","))]}"#
    switch below(24) {
    case 0, 1:
      let draft = #"{"kind":"marker","caption":"Here","place":\#(described),"location":\#(location)}"#
      try await keep(send("POST", "/v1/posts", user, draft), in: posts)
    case 2, 3: try await upload(user, &random)
    case 4: try await keep(send("POST", "/v1/collections", user, content), in: collections)
    case 5, 6:
      guard let collection else { return }
      try await send("PATCH", "/v1/collections/\(collection)", nil, #"{"items":[\#(items.joined(separator: ","))]}"#)
    case 7:
      guard let collection else { return }
      try await send("PUT", "/v1/collections/\(collection)/members/\(user)", nil, #"{"role":"editor"}"#)
    case 8:
      guard let collection else { return }
      try await send("DELETE", "/v1/collections/\(collection)/members/\(user)", nil)
    case 9:
      guard below(3) == 0, let collection else { return }
      try await send("DELETE", "/v1/collections/\(collection)", nil)
    case 10: try await send("PUT", "/v1/users/\(user)/profile-image", user, photo: photo)
    case 11: try await send("DELETE", "/v1/users/\(user)/profile-image", user)
    case 12: try await send("PUT", "/v1/users/\(user)/friends/\(other)", user)
    case 13: try await send("DELETE", "/v1/users/\(user)/friends/\(other)", user)
    case 14: try await send(below(2) == 0 ? "PUT" : "DELETE", "/v1/users/\(user)/favourites/\(place)", user)
    case 15: try await send("PUT", "/v1/places/\(place)", user, #"{"name":"\#(user)"}"#)
    case 16:
      let subjects = [post.map { "posts/\($0)" }, collection.map { "collections/\($0)" }, "places/\(place)"]
      guard let subject = subjects[below(3)] else { return }
      try await send("POST", "/v1/\(subject)/comments", user, #"{"text":"Nice"}"#)
    case 17: if below(3) == 0 { try await send("DELETE", "/v1/users/\(user)", nil) }
    default:
      guard let post else { return }
      switch below(6) {
      case 0, 1:
        let form = API.form([("image", photo)])
        try await send(
          "POST", "/v1/posts/\(post)/reactions", user, photo: form.bytes, headers: [("Content-Type", form.contentType)])
      case 2: try await send("PUT", "/v1/users/\(user)/likes/\(post)", user)
      case 3: try await send("DELETE", "/v1/users/\(user)/likes/\(post)", user)
      case 4:
        let change = #"{"place":\#(described),"location":\#(location)}"#
        try await send("PATCH", "/v1/posts/\(post)", nil, change)
      default: try await send("DELETE", "/v1/posts/\(post)", nil)
      }
    }
  }

  /// Submits a post before its photo is sent, and deletes every second one while its last byte arrives.
  private func upload(_ user: String, _ random: inout SeededRandom) async throws {
    let length = ("Upload-Length", "\(photo.count)")
    let created = try await send("POST", "/v1/uploads", user, headers: [("Upload-Complete", "?0"), length])
    guard let path = created.response.headers["location"]?.split(separator: "/v1/", maxSplits: 1).last else { return }
    let upload = path.split(separator: "/").last ?? ""
    let draft = #"{"kind":"photo","photo":[{"upload":"\#(upload)"}]}"#
    let post = try await send("POST", "/v1/posts", user, draft)
    async let sent = send(
      "PATCH", "/v1/\(path)", user, photo: photo,
      headers: [("Upload-Complete", "?1"), ("Upload-Offset", "0"), ("Content-Type", "application/partial-upload")])
    if random.next() % 2 == 0, let post = post["id"]?.text {
      try await send("DELETE", "/v1/posts/\(post)", nil)
    } else {
      keep(post, in: posts)
    }
    _ = try await sent
  }

  /// Keeps the id of what a request has stored.
  private func keep(_ stored: API.Response, in list: Shared<[String]>) {
    if let id = stored["id"]?.text { list.withLock { $0.append(id) } }
  }
}

extension Range<Int> {
  fileprivate func shuffled(by random: inout SeededRandom) -> [Int] {
    var rest = Array(self)
    return indices.map { _ in rest.remove(at: Int(random.next() % UInt64(rest.count))) }
  }
}
