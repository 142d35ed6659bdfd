import HTTPTesting
import Model
import Postgres
import Testing

@testable import Kit
@testable import Rooms

/// Each state of a post, for each kind of viewer, at each place where it could show: lists, maps, counts and pictures too.
@Suite("Who sees which post where", .tags(.database, .network), .timeLimit(.minutes(60)))
struct VisibilityMatrixTests {
  /// Who may see a post.
  private enum Audience { case everybody, friends, author, none }

  /// A post of Ada's, as it is in the end.
  private struct State {
    let name: String
    /// As it is submitted.
    let visibility: Visibility
    var age: Int?
    /// A change through the API.
    var patch: String?
    /// What happens to its row.
    var sql: String?
    let audience: Audience
    /// Whether it has an age in the end.
    var isAged = false
    /// Whether it counts.
    var isReady = true
  }

  private static let states = [
    State(name: "public", visibility: .public, audience: .everybody),
    State(name: "friends", visibility: .friends, audience: .friends),
    State(name: "private", visibility: .private, audience: .author),
    State(name: "public from 18", visibility: .public, age: 18, audience: .everybody, isAged: true),
    State(name: "friends from 18", visibility: .friends, age: 18, audience: .friends, isAged: true),
    State(name: "made private", visibility: .public, patch: #"{"visibility":"private"}"#, audience: .author),
    State(name: "made for friends", visibility: .public, patch: #"{"visibility":"friends"}"#, audience: .friends),
    State(name: "made public", visibility: .friends, patch: #"{"visibility":"public"}"#, audience: .everybody),
    State(name: "made from 18", visibility: .public, patch: #"{"min_age":18}"#, audience: .everybody, isAged: true),
    State(name: "deleted", visibility: .public, patch: "DELETE", audience: .none),
    State(
      name: "hidden", visibility: .public, sql: "moderation = 'hide', status = 'hidden'", audience: .author,
      isReady: false),
    State(
      name: "held", visibility: .public, sql: "moderation = 'hold', status = 'held'", audience: .author, isReady: false),
    State(name: "rejected", visibility: .public, sql: "status = 'rejected'", audience: .author, isReady: false),
    State(name: "processing", visibility: .public, sql: "status = 'processing'", audience: .everybody, isReady: false),
  ]

  /// Nil: a back-end, which acts as no user.
  private static let viewers: [String?] = [
    nil, "ada", "friend", "young-friend", "other", "young", "ageless", "blocked", "blocker",
  ]

  private static func sees(_ state: State, _ viewer: String?) -> Bool {
    switch (viewer, state.audience) {
    case (_, .none), ("blocked", _), ("blocker", _): return state.audience != .none && viewer == "ada"
    case (nil, _), ("ada", _): return true
    case (_, .author): return false
    case (let viewer?, .friends) where !viewer.hasSuffix("friend"): return false
    case (let viewer?, _): return !state.isAged || !viewer.hasPrefix("young")
    }
  }

  /// A post with what belongs to it.
  private struct Scene {
    let state: State
    let fixture: AccessFixture
    let latitude: Int
    let place: String

    var post: String { "\(fixture.post)" }
    var box: String { "10,\(latitude),11,\(latitude + 1)" }
  }

  private static func users(_ api: RunningAPI) async throws {
    for user in viewers.compactMap(\.self) {
      let age = user.hasPrefix("young") ? "'10 years'" : "'30 years'"
      try await api.execute(
        """
        INSERT INTO app_user (id, birth_date) VALUES ('\(user)', \(user == "ageless" ? "NULL" : "current_date - interval \(age)"))
        ON CONFLICT (id) DO UPDATE SET birth_date = excluded.birth_date
        """)
    }
    for (kind, user, target) in [
      ("friend", "ada", "friend"), ("friend", "friend", "ada"), ("friend", "ada", "young-friend"),
      ("friend", "young-friend", "ada"), ("block", "ada", "blocked"), ("blocked", "blocked", "ada"),
      ("block", "blocker", "ada"),
      ("blocked", "ada", "blocker"),
    ] {
      try await api.execute("INSERT INTO relation (kind, user_id, target) VALUES ('\(kind)', '\(user)', '\(target)')")
    }
  }

  private static func scene(_ state: State, _ number: Int, _ api: RunningAPI) async throws -> Scene {
    let fixture = try await AccessFixture(api, visibility: state.visibility)
    let scene = Scene(state: state, fixture: fixture, latitude: number, place: "matrix-\(number)")
    let row = "WHERE public_id = '\(fixture.post)'"
    try await api.execute(
      """
      UPDATE post SET latitude = \(number) + 0.5, longitude = 10.5, place_id = '\(scene.place)', place_name = 'Matrix',
        place_latitude = \(number) + 0.5, place_longitude = 10.5, min_age = \(state.age.map { "\($0)" } ?? "NULL") \(row)
      """)
    // A fan favours the place, so that everybody knows it whatever becomes of the post.
    let favoured = try await UserClient.send(
      "PUT", "/v1/users/fan/favourites/\(scene.place)", UserClient.backend + [("Take5-User", "fan")], nil, api)
    #expect(favoured.status < 300, "\(favoured.text)")
    // A like and a bookmark of everybody, from before.
    for user in viewers.compactMap(\.self) where user != "ada" {
      try await api.execute(
        "INSERT INTO relation (kind, user_id, target) VALUES ('like', '\(user)', '\(fixture.post)')")
    }
    let path = "/v1/posts/\(fixture.post)"
    if let patch = state.patch {
      let isDeletion = patch == "DELETE"
      let changed = try await UserClient.send(
        isDeletion ? "DELETE" : "PATCH", path, UserClient.backend, isDeletion ? nil : patch, api)
      #expect(changed.status < 300, "\(changed.text)")
    }
    if let sql = state.sql { try await api.execute("UPDATE post SET \(sql) \(row)") }
    return scene
  }

  @Test("no place shows a post to a viewer who must not see it, and each shows it to who may")
  func matrix() async throws {
    try await UserClient.with { api in
      try await Self.users(api)
      var scenes: [Scene] = []
      for (index, state) in Self.states.enumerated() { scenes.append(try await Self.scene(state, index + 1, api)) }
      let items = scenes.filter { $0.state.audience != .none }.map { #"{"post":"\#($0.post)"}"# }.joined(
        separator: ",")
      let album = try await UserClient.send(
        "POST", "/v1/collections", UserClient.backend + [("Take5-User", "ada")],
        #"{"kind":"album","name":"All","visibility":"public","items":[\#(items)]}"#, api)
      let collection = try #require(album.headers["location"], "\(album.text)")

      for viewer in Self.viewers {
        let credential = UserClient.backend + (viewer.map { [("Take5-User", $0)] } ?? [])
        func read(_ path: String) async throws -> ClientResponse { try await api.get(path, headers: credential) }
        func has(_ post: String, _ path: String) async throws -> Bool {
          let response = try await read(path)
          return response.status == 200 && response.text.contains(post)
        }
        for scene in scenes {
          let (state, post, fixture) = (scene.state, scene.post, scene.fixture)
          let sees = Self.sees(state, viewer)
          let title = "\(state.name) for \(viewer ?? "a back-end")"
          let every =
            "visibility=public&visibility=friends" + (viewer == nil || viewer == "ada" ? "&visibility=private" : "")
          // What a post of its own shows, and what belongs to it.
          var exact = [
            "/v1/posts/\(post)", "/v1/posts/\(post)/comments",
            "/v1/posts/\(post)/comments/\(fixture.comments["ada"] ?? fixture.post)",
            "/v1/posts/\(post)/reactions", "/v1/posts/\(post)/likes",
          ]
          if let reaction = fixture.reactions["ada"] { exact.append("/v1/images/\(reaction)") }
          for path in exact {
            let status = try await read(path).status
            #expect(status == (sees ? 200 : 404), "\(title): \(path)")
          }
          // The media of what everybody sees need no credential, and those of what was restricted since have other URLs.
          let isRestricted = state.patch != nil && state.name != "made public"
          let isPublic = state.audience == .everybody && !state.isAged
          let media = try await read("/v1/media/\(fixture.postAsset)").status
          #expect(media == (!isRestricted && (sees || isPublic) ? 200 : 404), "\(title): media")
          // Lists: of those by place and by author, only what is ready to be seen.
          let lists = [
            "/v1/posts?id=\(post)", "/v1/posts?box=\(scene.box)&\(every)&limit=100",
            "/v1/posts?author=ada&\(every)&limit=100",
            "/v1/posts?place=\(scene.place)&\(every)&limit=100", "/v1/users/me/feed?limit=100",
            "\(collection)?limit=100",
            "/v1/users/ada/calendar?month=\(fixture.month)",
          ]
          for path in lists where path != "/v1/users/me/feed?limit=100" || viewer != nil {
            let isThere = try await has(post, path)
            #expect(!isThere || sees, "\(title): \(path)")
            let isList =
              path.contains("id=") || path.contains("box=") || path.contains("author=") || path.contains("place=")
            if sees, isList, state.isReady, viewer != nil { #expect(isThere, "\(title): \(path)") }
          }
          if let viewer, viewer != "ada" {
            let likes = try await read("/v1/users/\(viewer)/likes?include=mine&limit=100").json
            #expect(likes["included"]["mine"]["posts"].names.contains(post) == sees, "\(title): likes")
          }
          // Counts: they do not say to who may not see it that it is there, and to who may they do, by rows.
          let isOpen = state.audience == .everybody && !state.isAged && state.isReady
          for path in ["/v1/map?box=\(scene.box)", "/v1/map?box=\(scene.box)&kind=marker&\(every)"] {
            let map = try await read(path)
            #expect(map.status == 200, "\(title): \(path) \(map.text)")
            let isCounted = !map.json["cells"].elements.isEmpty
            #expect(!isCounted || (path.contains("kind") ? sees : isOpen), "\(title): \(path)")
            if path.contains("kind"), sees, state.isReady { #expect(isCounted, "\(title): \(path)") }
          }
          let place = try await read("/v1/places/\(scene.place)")
          if place.status == 200 {
            if case .number(let posts) = place.json["counts"]["posts"] {
              #expect(posts == 0 || isOpen, "\(title): place")
            }
            // What a deleted post said belongs to the app.
            let isKept = state.patch == "DELETE"
            #expect(isOpen || sees || isKept || place.json["name"] == .null, "\(title): the name of the place")
          } else {
            Issue.record("\(title): the place is not known")
          }
          let there = try await read("/v1/places/\(scene.place)/users")
          #expect(there.status != 200 || there.json["items"].elements.isEmpty || isOpen, "\(title): users of the place")
        }
        let profile = try await read("/v1/users/ada")
        guard profile.status == 200 else { continue }
        let counted = scenes.count { scene in
          scene.state.isReady && Self.sees(scene.state, viewer)
            && (!scene.state.isAged || viewer == nil || viewer == "ada")
        }
        #expect(profile.json["counts"]["posts"] == .number(Double(counted)), "\(viewer ?? "a back-end")")
      }
    }
  }
}
