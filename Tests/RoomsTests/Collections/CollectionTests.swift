import FoundationEssentials
import HTTPTesting
import Model
import Postgres
import PostgresTesting
import Testing

@testable import Kit
@testable import Rooms

@Suite("Collections", .tags(.database, .network), .timeLimit(.minutes(60)))
struct CollectionTests {
  static func send(
    _ api: RunningAPI, _ method: String, _ path: String, as user: String? = nil, _ body: String? = nil,
    version: String? = nil
  ) async throws -> ClientResponse {
    let acting = user.map { [("Take5-User", $0)] } ?? []
    return try await UserClient.send(
      method, path, UserClient.backend + acting + (version.map { [("If-Match", $0)] } ?? []), body, api)
  }

  /// Stores a collection of Ada's, and returns its path. Ada, Bob and Eve are users.
  static func create(
    _ api: RunningAPI, _ body: String = #"{"kind":"itinerary","name":"Berlin","items":[{"place":"gate"}]}"#
  ) async throws -> String {
    for user in ["ada", "bob", "eve"] { _ = try await send(api, "PUT", "/v1/users/\(user)", as: user, "{}") }
    let created = try await send(api, "POST", "/v1/collections", as: "ada", body)
    #expect(created.status == 201, "\(created.text)")
    return try #require(created.headers["location"])
  }

  private static func share(_ api: RunningAPI, _ path: String, with user: String, as role: String) async throws {
    let shared = try await send(api, "PUT", "\(path)/members/\(user)", as: "ada", #"{"role":"\#(role)"}"#)
    #expect(shared.status == 204)
  }

  private static func version(_ api: RunningAPI, _ path: String, as user: String) async throws -> String {
    try #require(try await send(api, "GET", path, as: user).headers["etag"])
  }

  @Test("an album counts for each viewer the posts that this viewer sees")
  func countedItems() async throws {
    try await UserClient.with { api in
      var items: [String] = []
      for visibility in ["public", "private", "friends"] {
        let post = try await UserClient.post(api, visibility)
        items.append(#"{"post":"\#(post.split(separator: "/").last ?? "")"}"#)
      }
      let album = #"{"kind":"album","name":"Lake","items":[\#(items.joined(separator: ","))]}"#
      let path = try await Self.create(api, album)
      try await Self.share(api, path, with: "bob", as: "viewer")
      func counted(as user: String, _ listed: Int, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let read = try await Self.send(api, "GET", path, as: user).json
        let list = try await Self.send(api, "GET", "/v1/collections", as: user).json["items"][0]
        let seen = read["items"].elements.filter { $0["hidden"] == .null }
        #expect(seen.count == listed && read["items"].elements.count == 3, sourceLocation: sourceLocation)
        for counts in [read["counts"], list["counts"]] {
          #expect(counts["items"] == .number(Double(listed)), sourceLocation: sourceLocation)
        }
      }
      try await counted(as: "ada", 3)
      try await counted(as: "bob", 1)
      let link = try await Self.send(api, "POST", "\(path)/link", as: "ada").json["url"].text
      let open = try await api.get(try #require(link)).json
      #expect(open["counts"]["items"] == .number(1) && open["items"].elements.count == 1)
      #expect(try await Self.send(api, "GET", path).json["counts"]["items"] == .number(3))
      // A post that is rejected is in no album but its author's.
      try await api.execute("UPDATE post SET status = 'rejected' WHERE visibility = 'public'")
      try await counted(as: "ada", 3)
      try await counted(as: "bob", 0)
    }
  }

  @Test("what a collection consists of is said by its definition, and errors name each field")
  func validation() async throws {
    try await UserClient.with { api in
      let path = try await Self.create(
        api,
        """
        {"kind":"itinerary","name":"Berlin","fields":{"start_date":"2026-12-01","end_date":"2026-12-05","lodging":"Inn",
          "lodging_price":80.5,"total_cost":300,"currency":"EUR"},"items":[{"place":"gate","note":"At dusk"},{"place":"isle"}]}
        """)
      let read = try await Self.send(api, "GET", path, as: "ada").json
      #expect(read["fields"]["lodging_price"] == .number(80.5) && read["fields"]["start_date"].text == "2026-12-01")
      #expect(read["items"].elements.map { $0["place"].text } == ["gate", "isle"])
      #expect(read["items"].elements[0]["note"].text == "At dusk" && read["role"].text == "author")
      let wrong = [
        (#"{"kind":"journey","name":"x"}"#, ["kind"]), (#"{"kind":"album"}"#, ["name"]),
        (
          #"{"kind":"itinerary","name":"x","fields":{"start_date":"2026-02-30","currency":"EURO","stars":1},"more":1}"#,
          ["fields.currency", "fields.stars", "fields.start_date", "more"]
        ),
        (
          #"{"kind":"itinerary","name":"x","fields":{"start_date":"2026-12-02","end_date":"2026-12-01"}}"#,
          ["fields.end_date"]
        ),
        (
          #"{"kind":"itinerary","name":"x","items":[{"place":"a"},{"place":"a"},{"post":"b"},1,{"place":"c","price":"d"}]}"#,
          ["items[1]", "items[2].place", "items[2].post", "items[3]", "items[4].price"]
        ),
        (
          #"{"kind":"itinerary","name":"x","items":[\#((0...200).map { #"{"place":"\#($0)"}"# }.joined(separator: ","))]}"#,
          ["items"]
        ),
        (#"{"kind":"album","name":"x","items":[{"post":"\#(PublicID.now())"}]}"#, ["items"]),
      ]
      for (body, fields) in wrong {
        let refused = try await Self.send(api, "POST", "/v1/collections", as: "ada", body)
        #expect(refused.status == 400)
        let named = refused.json["errors"].elements.compactMap { $0["field"].text }
        #expect(Set(named).isSuperset(of: fields) && named.count <= fields.count + 1, "\(named)")
      }
    }
  }

  @Test("of two editors at once the slower one gets 412, and a change needs a version")
  func editors() async throws {
    try await UserClient.with { api in
      let path = try await Self.create(api)
      try await Self.share(api, path, with: "bob", as: "editor")
      let version = try await Self.version(api, path, as: "ada")
      async let first = Self.send(api, "PATCH", path, as: "ada", #"{"name":"By Ada"}"#, version: version).status
      async let second = Self.send(api, "PATCH", path, as: "bob", #"{"name":"By Bob"}"#, version: version).status
      #expect(try await [first, second].sorted() == [200, 412])
      #expect(try await Self.send(api, "PATCH", path, as: "bob", #"{"name":"Late"}"#).status == 428)
      // A merge patch: null removes, and a list of items replaces all in the new order.
      let change = #"{"fields":{"lodging":"Inn","travel":"Train"},"items":[{"place":"isle"},{"place":"gate"}]}"#
      var changed = try await Self.send(
        api, "PATCH", path, as: "bob", change, version: Self.version(api, path, as: "bob"))
      #expect(changed.json["items"].elements.map { $0["place"].text } == ["isle", "gate"])
      changed = try await Self.send(
        api, "PATCH", path, as: "bob", #"{"fields":{"travel":null}}"#, version: changed.headers["etag"])
      #expect(changed.json["fields"].names == ["lodging"] && changed.json["items"].elements.count == 2)
      #expect(changed.json["counts"]["items"] == .number(2))
    }
  }

  @Test("members see or edit, others get 404, a block ends it, and a member leaves while the author deletes for all")
  func members() async throws {
    try await UserClient.with { api in
      let path = try await Self.create(api)
      #expect(try await Self.send(api, "GET", path, as: "bob").status == 404)
      try await Self.share(api, path, with: "bob", as: "viewer")
      try await Self.share(api, path, with: "eve", as: "editor")
      let version = try await Self.version(api, path, as: "bob")
      #expect(try await Self.send(api, "PATCH", path, as: "bob", #"{"name":"x"}"#, version: version).status == 403)
      #expect(
        try await Self.send(api, "PUT", "\(path)/members/bob", as: "bob", #"{"role":"editor"}"#).status == 403)
      #expect(try await Self.send(api, "DELETE", "\(path)/members/eve", as: "bob").status == 403)
      #expect(
        try await Self.send(api, "PUT", "\(path)/members/unknown", as: "ada", #"{"role":"editor"}"#).status == 404)
      func roles(_ user: String, _ query: String = "") async throws -> [String?] {
        try await Self.send(api, "GET", "/v1/collections\(query)", as: user).json["items"].elements
          .map { $0["role"].text }
      }
      #expect(try await [roles("ada"), roles("bob"), roles("eve")] == [["author"], ["viewer"], ["editor"]])
      #expect(try await [roles("ada", "?role=editor"), roles("bob", "?kind=album")] == [[], []])
      // The list has no items.
      let listed = try await Self.send(api, "GET", "/v1/collections", as: "ada").json["items"].elements[0]
      #expect(listed["items"] == .null && listed["counts"]["members"] == .number(2))
      // A block on either side.
      _ = try await Self.send(api, "PUT", "/v1/users/eve/blocks/ada", as: "eve")
      #expect(try await Self.send(api, "GET", path, as: "eve").status == 404)
      #expect(try await roles("eve") == [])
      // Bob leaves, for oneself; Ada deletes for all.
      #expect(try await Self.send(api, "DELETE", path, as: "bob").status == 204)
      #expect(try await Self.send(api, "GET", path, as: "bob").status == 404)
      #expect(try await Self.send(api, "GET", path, as: "ada").json["counts"]["members"] == .number(1))
      #expect(try await Self.send(api, "DELETE", path, as: "ada").status == 204)
      #expect(try await Self.send(api, "GET", path, as: "ada").status == 404)
    }
  }

  @Test("the link alone lets one see, also without a credential, until it is replaced or revoked")
  func link() async throws {
    try await UserClient.with { api in
      let path = try await Self.create(api)
      let made = try await Self.send(api, "POST", "\(path)/link", as: "ada")
      let url = try #require(made.json["url"].text)
      #expect(made.status == 201 && url.hasPrefix(path))
      #expect(try await Self.send(api, "GET", path, as: "ada").json["link"] == .boolean(true))
      let seen = try await Self.send(api, "GET", url, as: "bob")
      #expect(seen.json["role"].text == "link" && seen.json["link"] == .null)
      #expect(try await api.get(url).status == 200)
      #expect(try await [api.get(path).status, api.get("\(path)?link=t5l_wrong").status] == [401, 401])
      for path in ["\(path)/activity", "\(path)/members"] {
        #expect(try await Self.send(api, "GET", path, as: "bob").status == 404)
      }
      // Who knows it joins as a viewer, and as nothing more.
      let query = url.split(separator: "?")[1]
      let join = "\(path)/members/bob?\(query)"
      #expect(try await Self.send(api, "PUT", join, as: "bob", #"{"role":"editor"}"#).status == 403)
      #expect(try await Self.send(api, "PUT", join, as: "bob", #"{"role":"viewer"}"#).status == 204)
      #expect(try await Self.send(api, "GET", path, as: "bob").json["role"].text == "viewer")
      _ = try await Self.send(api, "PUT", "/v1/users/ada/blocks/eve", as: "ada")
      #expect(try await Self.send(api, "GET", url, as: "eve").status == 404)
      let other = try #require(try await Self.send(api, "POST", "\(path)/link", as: "ada").json["url"].text)
      #expect(try await [api.get(url).status, api.get(other).status] == [401, 200])
      #expect(try await Self.send(api, "DELETE", "\(path)/link", as: "ada").status == 204)
      #expect(try await api.get(other).status == 401)
    }
  }

  @Test("the activity says who did what, views at most once an hour")
  func activity() async throws {
    try await UserClient.with { api in
      let path = try await Self.create(api)
      try await Self.share(api, path, with: "bob", as: "editor")
      for _ in 0..<3 { _ = try await Self.send(api, "GET", path, as: "bob") }
      _ = try await Self.send(api, "HEAD", path, as: "ada")
      let version = try await Self.version(api, path, as: "bob")
      _ = try await Self.send(
        api, "PATCH", path, as: "bob", #"{"name":"x","fields":{"lodging":"y"}}"#, version: version)
      _ = try await Self.send(api, "DELETE", "\(path)/members/bob", as: "ada")
      let list = try await Self.send(api, "GET", "\(path)/activity", as: "ada").json["items"].elements
      let lines = list.map { entry in
        ([entry["kind"].text, entry["user"].text, entry["member"].text].compactMap(\.self)
          + entry["keys"].elements.compactMap(\.text)).joined(separator: " ")
      }
      #expect(
        lines == ["unshared ada bob", "edited bob lodging name", "viewed bob", "shared ada bob", "created ada"])
    }
  }

  @Test("an album has the posts that the viewer sees, says where others are and keeps them, and a deleted post is gone")
  func albums() async throws {
    try await UserClient.with { api in
      let open = try await UserClient.post(api, by: "ada").split(separator: "/").last.map(String.init)
      let own = try await UserClient.post(api, by: "ada", "private").split(separator: "/").last.map(String.init)
      let (first, second) = (try #require(own), try #require(open))
      let path = try await Self.create(
        api, #"{"kind":"album","name":"Us","items":[{"post":"\#(first)"},{"post":"\#(second)","caption":"c"}]}"#)
      try await Self.share(api, path, with: "bob", as: "editor")
      func posts(_ user: String) async throws -> [String?] {
        try await Self.send(api, "GET", path, as: user).json["items"].elements.map { $0["post"].text }
      }
      #expect(try await [posts("ada"), posts("bob")] == [[first, second], [nil, second]])
      let bobs = try #require(try await UserClient.post(api, by: "bob").split(separator: "/").last)
      let edited = try await Self.send(
        api, "PATCH", path, as: "bob", #"{"items":[{"post":"\#(bobs)"}]}"#, version: Self.version(api, path, as: "bob"))
      #expect(edited.status == 200)
      #expect(try await [posts("ada"), posts("bob")] == [["\(bobs)", first], ["\(bobs)", nil]])
      // One that the editor does not see cannot be added.
      let refused = try await Self.send(
        api, "PATCH", path, as: "bob", #"{"items":[{"post":"\#(first)"}]}"#, version: edited.headers["etag"])
      #expect(refused.status == 400)
      #expect(try await Self.send(api, "DELETE", "/v1/posts/\(bobs)", as: "bob").status == 204)
      #expect(try await posts("ada") == [first])
      #expect(try await Self.send(api, "GET", path, as: "ada").json["counts"]["items"] == .number(1))
    }
  }

  @Test("an editor keeps what the editor does not see in its places, and only members learn that it is there")
  func hiddenItems() async throws {
    try await UserClient.with { api in
      var posts: [String] = []
      for visibility in ["public", "private", "public", "private"] {
        posts.append(
          try #require(try await UserClient.post(api, visibility).split(separator: "/").last.map(String.init)))
      }
      let (first, second, third, fourth) = (posts[0], posts[1], posts[2], posts[3])
      let items = posts.map { #"{"post":"\#($0)","caption":"c"}"# }.joined(separator: ",")
      let path = try await Self.create(api, #"{"kind":"album","name":"Us","visibility":"public","items":[\#(items)]}"#)
      try await Self.share(api, path, with: "bob", as: "editor")
      func listed(_ user: String, _ query: String = "") async throws -> [String?] {
        try await Self.send(api, "GET", path + query, as: user).json["items"].elements.map { $0["post"].text }
      }
      let seen = try await Self.send(api, "GET", path, as: "bob").json["items"].elements
      #expect(seen[1].names.sorted() == ["hidden", "post"] && seen[1]["hidden"] == .boolean(true))
      #expect(
        try await [listed("ada"), listed("bob"), listed("eve")] == [posts, [first, nil, third, nil], [first, third]])
      let link = try await Self.send(api, "POST", "\(path)/link", as: "ada").json["url"].text ?? ""
      #expect(try await api.get(link).json["items"].elements.map { $0["post"].text } == [first, third])
      func change(_ items: String) async throws -> Int {
        try await Self.send(api, "PATCH", path, as: "bob", #"{"items":[\#(items)]}"#, version: "*").status
      }
      let hidden = #"{"post":null,"hidden":true}"#
      #expect(try await change(#"{"post":"\#(third)"},\#(hidden),{"hidden":true},{"post":"\#(first)"}"#) == 200)
      #expect(
        try await [listed("ada"), listed("bob")] == [[third, second, fourth, first], [third, nil, nil, first]])
      // One that is not repeated follows the others.
      #expect(try await change(#"\#(hidden),{"post":"\#(first)"},{"post":"\#(third)"}"#) == 200)
      #expect(try await listed("ada") == [second, first, third, fourth])
      for wrong in ["\(hidden),\(hidden),\(hidden)", #"{"hidden":true,"caption":"c"}"#, #"{"hidden":false}"#] {
        #expect(try await change(wrong) == 400, "\(wrong)")
      }
      #expect(try await listed("ada") == [second, first, third, fourth])
      let created = try await Self.send(
        api, "POST", "/v1/collections", as: "bob", #"{"kind":"album","name":"x","items":[\#(hidden)]}"#)
      #expect(created.status == 400)
    }
  }

  @Test("places count the collections that have them, and a private itinerary makes no place known")
  func places() async throws {
    try await UserClient.with { api in
      let path = try await Self.create(api)
      #expect(try await Self.send(api, "GET", "/v1/places/gate").status == 404)
      #expect(try await Self.send(api, "GET", "/v1/places").json["items"].elements.isEmpty)
      _ = try await Self.send(api, "PUT", "/v1/places/gate", #"{"name":"Gate"}"#)
      func collections() async throws -> JSONValue {
        try await Self.send(api, "GET", "/v1/places/gate").json["counts"]["collections"]
      }
      #expect(try await collections() == .number(1))
      let version = try await Self.version(api, path, as: "ada")
      _ = try await Self.send(api, "PATCH", path, as: "ada", #"{"items":[]}"#, version: version)
      #expect(try await collections() == .number(0))
    }
  }

  @Test("users who see a collection see the comments on it")
  func comments() async throws {
    try await UserClient.with { api in
      let path = try await Self.create(api)
      let text = #"{"text":"When?"}"#
      #expect(try await Self.send(api, "POST", "\(path)/comments", as: "bob", text).status == 404)
      try await Self.share(api, path, with: "bob", as: "viewer")
      let comment = try await Self.send(api, "POST", "\(path)/comments", as: "bob", text)
      #expect(comment.json["collection"].text.map { path.hasSuffix($0) } == true)
      #expect(try await Self.send(api, "GET", "\(path)/comments", as: "eve").status == 404)
      #expect(try await Self.send(api, "GET", path, as: "ada").json["counts"]["comments"] == .number(1))
      // The author of the collection deletes what a member wrote.
      #expect(try await Self.send(api, "DELETE", try #require(comment.headers["location"]), as: "ada").status == 204)
      #expect(try await Self.send(api, "GET", path, as: "ada").json["counts"]["comments"] == .number(0))
    }
  }

  @Test(
    "the thumbnail is by default the photo of the first place that has one, and the id of a collection is no itinerary's"
  )
  func thumbnails() async throws {
    try await RunningAPI.with { api in
      let fixture = try await AccessFixture(api, visibility: .private)
      func send(_ method: String, _ path: String, as user: String, _ body: String? = nil) async throws -> ClientResponse
      {
        try await UserClient.send(method, path, [("Take5-User", user)], body, api)
      }
      let items = #"[{"place":"without-photo"},{"place":"\#(fixture.place)"}]"#
      let created = try await send(
        "POST", "/v1/collections", as: "ada", #"{"kind":"itinerary","name":"Trip","items":\#(items)}"#)
      #expect(created.json["thumbnail"].names == ["photo.medium"])
      #expect(created.json["thumbnail"]["photo.medium"]["url"].text?.contains("signature") == false)
      let id = try #require(created.json["id"].text)
      for path in ["/v1/itineraries/\(id)/thumbnail", "/v1/collections/\(id)/thumbnail"] {
        let sent = try await request(
          "PUT", path, port: api.port, headers: [("Take5-User", "bob"), ("Content-Type", "image/jpeg")],
          body: PhotoSubmissionTests.jpeg)
        #expect(sent.status == (path.contains("itineraries") ? 403 : 404))
      }
      // Its own thumbnail comes first.
      let own = try await send("GET", "/v1/collections/\(fixture.collection)", as: "ada")
      #expect(own.json["thumbnail"].names == ["photo.medium"])
      #expect(try await send("GET", "/v1/itineraries/\(fixture.collection)/thumbnail", as: "bob").status == 404)
      #expect(try await send("GET", "/v1/itineraries/\(fixture.collection)/thumbnail", as: "ada").status == 200)
    }
  }
}
