import BlobTesting
import Crypto
import FoundationEssentials
import HTTPServer
import HTTPTesting
import Model
import Platform
import Postgres
import PostgresTesting
import Queue
import Testing
import WaitTesting

@testable import Kit
@testable import Rooms
@testable import Store

@Suite("First looks over HTTP", .tags(.database, .network), .timeLimit(.minutes(60)))
struct LookTests {
  /// A post of Ada's in a service, whose friend Bob is; Eve is a stranger.
  private struct Scene: Sendable {
    let api: RunningAPI
    let path: String

    init(_ api: RunningAPI, _ visibility: Visibility = .friends) async throws {
      self.api = api
      try await api.pool.transaction { session in
        _ = try Relations.relate("ada", .friend, to: "bob", for: .unrestricted, session)
        _ = try Relations.relate("bob", .friend, to: "ada", for: .unrestricted, session)
      }
      let form = MultipartForm.moment(post: #"{"author":"ada","visibility":"\#(visibility.rawValue)"}"#)
      path = try #require(try await api.submit(form, headers: UserClient.backend).headers["location"])
    }

    var id: String { ModerationTests.id(path) }

    func get(_ path: String, as user: String? = nil) async throws -> ClientResponse {
      try await UserClient.send("GET", path, LookTests.client(user), nil, api)
    }
  }

  private static func client(_ user: String?) -> [(String, String)] {
    UserClient.backend + (user.map { [("Take5-User", $0)] } ?? [])
  }

  private static func with(
    _ look: LookAudience?, _ visibility: Visibility = .friends, _ body: (Scene) async throws -> Void
  ) async throws {
    var setting = RunningAPI.Setting()
    setting.look = look
    try await UserClient.with(setting) { api in try await body(try await Scene(api, visibility)) }
  }

  /// Shows the look of the next post as a worker does, and notifies the waiting requests.
  private static func show(_ api: RunningAPI, photos: Int = 0) async throws {
    func asset(_ role: Role, _ type: String, place: Int = 0) throws -> NewAsset {
      NewAsset(
        role: role, type: type, content: try api.blobs.seal(Array("\(role.rawValue) \(place)".utf8)), place: place)
    }
    let outputs =
      photos > 0
      ? try (0..<photos).map { try asset(.photoSmall, "image/jpeg", place: $0) }
      : [try asset(.image, "image/jpeg"), try asset(.clipFront, "video/mp4")]
    let store = api.store
    let jobs = try await store.transaction(publishing: outputs, api.pool) { session in
      let worker = try JobQueue.register(host: "test", process: 1, session)
      let job = try #require(try JobQueue.claim(worker: worker, queue: LookJob.queue, limit: 1, session).first)
      let work = try #require(try store.work(for: job, session))
      try store.publish(
        outputs, of: work, recipe: SHA256.digest(of: [9]), job: job,
        verdict: Verdict(reasons: [], inputs: [:], decisions: []), seconds: 1, session)
      return [job.publicID, try #require(work.look).composition]
    }
    try await api.pool.run { try JobQueue.notifyChange(of: jobs, $0) }
  }

  private static func reject(_ api: RunningAPI) async throws {
    let store = api.store
    try await api.pool.transaction { session in
      let worker = try JobQueue.register(host: "test", process: 1, session)
      let job = try #require(try JobQueue.claim(worker: worker, queue: PostJob.queue, limit: 1, session).first)
      try JobQueue.notifyChange(of: job.publicID, session)
      try store.reject(
        #require(try store.work(for: job, session)), job: job,
        verdict: Verdict(
          reasons: [Reason(.corruptVideo, input: .front, detail: "broken")], inputs: [:], decisions: []), session)
    }
  }

  // MARK: Who sees it

  @Test(
    "a look is in a post, in lists and in the calendar for users who may see it, and only they read its media",
    arguments: [LookAudience.author, .viewers], [Visibility.public, .friends])
  func audiences(look: LookAudience, visibility: Visibility) async throws {
    try await Self.with(look, visibility) { scene in
      let api = scene.api
      let processing = try await scene.get(scene.path).json
      #expect(processing["assets"].names.isEmpty)
      let month = String(try #require(processing["created_at"].text).prefix(7))
      let calendar = "/v1/users/ada/calendar?month=\(month)"
      #expect(try await scene.get(calendar, as: "ada").json["days"].elements.isEmpty)
      try await Self.show(api)

      let own = try await scene.get(scene.path, as: "ada").json
      let ids = try ["image", "clip.front"].map { role in
        ModerationTests.id(String(try #require(own["assets"][role]["url"].text).prefix { $0 != "?" }))
      }
      for user in ["ada", "bob", "eve", nil] {
        let seesPost = visibility == .public || user != "eve"
        let sees = user == nil || user == "ada" || look == .viewers && seesPost
        let single = try await scene.get(scene.path, as: user)
        #expect(single.status == (seesPost ? 200 : 404))
        let roles: Set<String> = sees ? ["image", "clip.front"] : []
        if seesPost {
          #expect(
            single.json["status"].text == "processing" && single.json["assets"].names == roles, "\(user ?? "key")")
          let list = "/v1/posts?author=ada&status=processing&visibility=\(visibility.rawValue)"
          let items = try await scene.get(list, as: user).json["items"].elements
          #expect(items.map { $0["assets"].names } == [roles])
        }
        let days = try await scene.get(calendar, as: user).json["days"].elements
        #expect(days.isEmpty == !sees)
        #expect(days.allSatisfy { $0["post"].text == scene.id && $0["image"]["url"].text != nil })
        // The URLs that it gets, and those of others that it guesses.
        for role in roles {
          let url = try #require(single.json["assets"][role]["url"].text)
          #expect(url.contains("signature="))
          let response = try await api.get(url)
          #expect(response.status == 200 && response.headers["cache-control"]?.hasPrefix("private,") == true)
        }
        for id in ids {
          #expect(
            try await scene.get("/v1/media/\(id)", as: user).status == (sees ? 200 : 404), "\(user ?? "key") \(look)")
        }
      }
      // Not without a credential: shared caches would keep it longer than the service.
      for id in ids { #expect(try await api.get("/v1/media/\(id)").status == 404) }
    }
  }

  @Test("a rejection takes the look away from all, its author too", arguments: [LookAudience.author, .viewers])
  func rejected(look: LookAudience) async throws {
    try await Self.with(look, .public) { scene in
      try await Self.show(scene.api)
      let assets = try await scene.get(scene.path, as: "ada").json["assets"]
      let urls = try assets.names.map { try #require(assets[$0]["url"].text) }
      for url in urls { #expect(try await scene.api.get(url).status == 200) }
      try await Self.reject(scene.api)
      let post = try await scene.get(scene.path, as: "ada").json
      #expect(post["status"].text == "rejected" && post["assets"].names.isEmpty)
      for url in urls + urls.map({ String($0.prefix { $0 != "?" }) }) {
        for client in [[], Self.client(nil), Self.client("ada")] {
          #expect(try await scene.api.get(url, headers: client).status == 404)
        }
      }
    }
  }

  @Test("a block hides a look, and an age limit and a hold do")
  func hidden() async throws {
    for change in [
      "INSERT INTO relation (user_id, kind, target) VALUES ('ada', 'block', 'bob'), ('bob', 'blocked', 'ada')",
      "UPDATE post SET min_age = 18",
      "UPDATE post SET moderation = 'hold', is_moderated = true",
    ] as [Statement] {
      try await Self.with(.viewers, .public) { scene in
        try await scene.api.pool.run { session in
          try session.execute("DELETE FROM relation")
          try session.execute(
            """
            INSERT INTO app_user (id, birth_date) VALUES ('bob', current_date)
            ON CONFLICT (id) DO UPDATE SET birth_date = current_date
            """)
        }
        try await Self.show(scene.api)
        let url = try #require(try await scene.get(scene.path, as: "bob").json["assets"]["image"]["url"].text)
        let id = ModerationTests.id(String(url.prefix { $0 != "?" }))
        #expect(try await scene.api.get(url).status == 200)
        try await scene.api.pool.run { session in _ = try session.execute(change) }
        #expect(try await scene.get(scene.path, as: "bob").status == 404)
        #expect(try await scene.api.get(url).status == 404)
        #expect(try await scene.get("/v1/media/\(id)", as: "bob").status == 404)
        #expect(try await scene.get(scene.path, as: "ada").json["assets"].names.count == 2)
      }
    }
  }

  // MARK: Changes

  @Test("a look and its end change the version of the post, and its author receives one event of each")
  func versions() async throws {
    try await Self.with(.author) { scene in
      let api = scene.api
      func state() async throws -> (tag: String, time: String) {
        let response = try await scene.get(scene.path, as: "ada")
        return (try #require(response.headers["etag"]), try #require(response.json["updated_at"].text))
      }
      let submitted = try await state()
      try await Self.show(api)
      let seen = try await state()
      // What lists of changes go by.
      #expect(seen.tag != submitted.tag && seen.time > submitted.time)
      let conditional = Self.client("ada") + [("If-None-Match", submitted.tag)]
      #expect(try await UserClient.send("GET", scene.path, conditional, nil, api).status == 200)
      // Who does not see the look has the former version.
      #expect(try await scene.get(scene.path, as: "bob").headers["etag"] != seen.tag)
      try await WaitingTests.end(api)
      let ready = try await state()
      #expect(ready.tag != seen.tag && ready.time >= seen.time)
      let events = try await api.pool.run { session in
        try ["ada", "bob"].map { user in
          try Events.list(of: user, after: 0, limit: 10, session).filter {
            $0.post != nil && $0.kind.hasPrefix("post_")
          }
        }
      }
      #expect(events[0].map(\.kind) == ["post_previewed", "post_ready"] && events[1].isEmpty)
      #expect(events[0].allSatisfy { $0.post?.description == scene.id })
    }
  }

  @Test("the photos of a look cannot be arranged: the post has them once it is ready")
  func photos() async throws {
    try await UserClient.with { api in
      let form = PhotoSubmissionTests.form(photos: 2)
      let submitted = try await api.submit(form, headers: UserClient.backend)
      let path = try #require(submitted.headers["location"])
      try await Self.show(api, photos: 2)
      let seen = try await UserClient.send("GET", path, Self.client("ada"), nil, api)
      #expect(seen.json["photos"].elements.count == 2 && seen.json["status"].text == "processing")
      let version = [("If-Match", try #require(seen.headers["etag"]))]
      for photos in ["[1,0]", "[0]"] {
        let refused = try await UserClient.send(
          "PUT", "\(path)/photos", Self.client("ada") + version, #"{"photos":\#(photos)}"#, api)
        #expect(refused.status == 400, "\(refused.text)")
      }
      #expect(
        try await UserClient.send("GET", path, Self.client("ada") + version, nil, api).headers["etag"] == version[0].1)
    }
  }

  // MARK: Waiting

  @Test(
    "who waits for the look gets the post once it has one, and the preference was applied", arguments: [true, false])
  func waiting(listens: Bool) async throws {
    var setting = RunningAPI.Setting()
    setting.listens = listens
    try await RunningAPI.with(setting) { api in
      async let submitting = api.submit(.moment(), headers: [("Prefer", "respond-async, WAIT = 60 ;\t For = look")])
      try await until { api.submissions.waits.count == 1 }
      try await Self.show(api)
      let submitted = try await submitting
      #expect(submitted.status == 200 && submitted.headers["preference-applied"] == "wait=50; for=look")
      #expect(submitted.json["status"].text == "processing" && submitted.json["assets"].names.count == 2)
      let path = try #require(submitted.headers["location"])
      let version = try #require(submitted.headers["etag"]).dropLast()
      #expect(try await api.get(path).headers["etag"]?.hasPrefix(version) == true)
      // It has one already.
      #expect(try await api.get("\(path)?wait=50&for=look").json["assets"].names.count == 2)

      let other = try #require(try await api.submit(.moment(post: #"{"author":"bob"}"#)).headers["location"])
      async let reading = api.get("\(other)?for=look", headers: [("Prefer", "wait=50")])
      async let preferring = api.get(other, headers: [("Prefer", "wait=50;for=look")])
      async let patient = api.get("\(other)?wait=50&for=ready")
      try await until { api.submissions.waits.count == 3 }
      try await Self.show(api)
      for response in [try await reading, try await preferring] {
        #expect(response.json["status"].text == "processing" && response.json["assets"].names.count == 2)
      }
      // The first of both posts, then the other one.
      for _ in 0..<2 { try await WaitingTests.end(api) }
      #expect(try await patient.json["status"].text == "ready")
    }
  }

  @Test("a client that sees no look waits for the end", arguments: [LookAudience.notMade, .author])
  func unseen(look: LookAudience) async throws {
    try await Self.with(look) { scene in
      async let waiting = scene.get("\(scene.path)?wait=50&for=look", as: look == .author ? "bob" : "ada")
      try await until { scene.api.submissions.waits.count == 1 }
      if look == .author {
        try await Self.show(scene.api)
      } else {
        let hasNone = try await scene.api.pool.run { try $0.execute("SELECT FROM job WHERE kind = 'look'").isEmpty }
        #expect(hasNone)
      }
      try await WaitingTests.end(scene.api)
      #expect(try await waiting.json["status"].text == "ready")
    }
  }

  @Test("who waits for a look gets the reasons of a rejection that comes first")
  func waitingForNothing() async throws {
    try await Self.with(.viewers) { scene in
      async let waiting = scene.get("\(scene.path)?wait=50&for=look", as: "bob")
      async let author = scene.get("\(scene.path)?wait=50&for=look", as: "ada")
      try await until { scene.api.submissions.waits.count == 2 }
      try await Self.reject(scene.api)
      // What was rejected is its author's alone.
      #expect(try await author.json["status"].text == "rejected")
      #expect(try await waiting.status == 404)
    }
  }

  @Test("what cannot be waited for is refused in a query, and left out of account in a preference")
  func goals() async throws {
    try await Self.with(.author) { scene in
      for wrong in ["wait=1&for=other", "for=", "wait=1&for=LOOK"] {
        let refused = try await scene.get("\(scene.path)?\(wrong)")
        #expect(refused.status == 400 && refused.json["errors"][0]["field"].text == "for", "\(wrong)")
      }
      #expect(try await scene.get("\(scene.path)?for=look").json["status"].text == "processing")
    }
    for (field, seconds, goal) in [
      ("wait=5; for=look", 5, .look), ("WAIT=5;FOR=Look", 5, .look), (" wait = 90 ;  for = look ", 50, .look),
      ("handling=strict, wait=5 ;for=look", 5, .look), ("wait=5; for=other", 5, .ready), ("wait=5; for", 5, .ready),
      ("wait=5; x=1; for=look", 5, .look), ("wait=5", 5, .ready), ("handling=strict; for=look, wait=5", 5, .ready),
      ("for=look; wait=5", nil, .ready), (";", nil, .ready), ("wait=5;", 5, .ready),
    ] as [(String, Int?, Wait.Goal)] {
      let wait = Wait(preferredBy: ["Prefer": field])
      #expect(wait?.seconds == seconds && wait?.goal ?? .ready == goal, "\(field)")
    }
  }

  // MARK: The user's own

  @Test("a look is part of the user's archive, and goes with the post and with the user")
  func own() async throws {
    try await Self.with(.viewers) { scene in
      let api = scene.api
      try await Self.show(api)
      let folder = try TemporaryFolder()
      let archive = "\(folder.path)/export.zip"
      try Descriptor(writing: archive, replacing: true).write(
        try await scene.get("/v1/users/ada/export").body)
      let checked = try await ExportTests.python(
        """
        import sys, zipfile, json
        z = zipfile.ZipFile(sys.argv[1])
        files = {f['role']: f['path'] for f in json.loads(z.read('posts/1.json'))[0]['files']}
        assert z.read(files['clip.front']) == b'clip.front 0' and z.read(files['image']) == b'image 0', files
        """, archive)
      #expect(checked == 0)
      let url = try #require(try await scene.get(scene.path, as: "bob").json["assets"]["image"]["url"].text)
      #expect(try await UserClient.send("DELETE", scene.path, Self.client("ada"), nil, api).status == 204)
      #expect(try await api.get(url).status == 404)
      try await api.store.collecting.collectReleased(api.pool)
      #expect(try await api.storedCount() == 0)

      // Of a user who is deleted: one post with a look, and one whose look is still to be made.
      let form = MultipartForm.moment(post: #"{"author":"ada"}"#)
      for _ in 0..<2 { #expect(try await api.submit(form, headers: UserClient.backend).status == 202) }
      try await Self.show(api)
      try await api.pool.transaction { session in
        let job = try Forgetting.start("ada", request: nil, session, check: { _ in }).job
        let deadline = Deadline("the last batch of a deletion")
        while try Forgetting.forgetBatch(ofJob: job, in: .all, session) { try deadline.check() }
      }
      try await api.store.collecting.collectReleased(api.pool)
      #expect(try await api.storedCount() == 0)
      let hasNoShare = try await api.pool.run { session in
        try session.execute("SELECT FROM job_share WHERE name LIKE '%ada%'").isEmpty
      }
      #expect(hasNoShare)
    }
  }
}
