import Crypto
import HTTPTesting
import Model
import Postgres
import Testing

@testable import Kit
@testable import Rooms

@Suite("Places of friends", .tags(.database, .network), .timeLimit(.minutes(60)))
struct PlaceOfFriendsTests {
  /// Stores a marker of Ada's at a place, and returns its path.
  private static func post(
    _ api: RunningAPI, at place: String, _ visibility: String, name: String = "Cove", longitude: Double = 9.5
  ) async throws -> String {
    let place = #"{"id":"\#(place)","name":"\#(name)","coordinate":{"latitude":47.5,"longitude":\#(longitude)}}"#
    let body = #"{"kind":"marker","title":"Here","visibility":"\#(visibility)","place":\#(place)}"#
    return try #require(try await UserClient.send(api, "POST", "/v1/posts", as: "ada", body).headers["location"])
  }

  private static func befriend(_ api: RunningAPI) async throws {
    for user in ["ada", "bob", "eve"] { _ = try await UserClient.send(api, "PUT", "/v1/users/\(user)", as: user, "{}") }
    _ = try await UserClient.send(api, "PUT", "/v1/users/ada/friends/bob", as: "ada")
    #expect(try await UserClient.send(api, "PUT", "/v1/users/bob/friends/ada", as: "bob").status == 200)
  }

  private static func ids(_ query: String, as user: String, _ api: RunningAPI) async throws -> [String?] {
    let list = try await UserClient.send(api, "GET", "/v1/places?\(query)", as: user)
    #expect(list.status == 200)
    return list.json["items"].elements.map { $0["id"].text }
  }

  @Test("what a post for friends said of a place is gone with the post, and with what it says no more")
  func forgotten() async throws {
    try await UserClient.with { api in
      try await Self.befriend(api)
      func name() async throws -> String? {
        try await UserClient.send(api, "GET", "/v1/places/cove", as: "bob").json["name"].text
      }
      let first = try await Self.post(api, at: "cove", "friends", name: "Old")
      let second = try await Self.post(api, at: "cove", "friends", name: "Secret", longitude: 9.7)
      #expect(try await name() == "Secret")
      #expect(try await UserClient.send(api, "DELETE", second, as: "ada").status == 204)
      #expect(try await name() == "Old")
      let blank = #"{"place":{"id":"cove","name":null,"coordinate":null}}"#
      #expect(try await UserClient.send(api, "PATCH", first, as: "ada", blank).status == 200)
      let place = try await UserClient.send(api, "GET", "/v1/places/cove", as: "bob").json
      #expect(place["name"] == .null && place["coordinate"] == .null)
    }
  }

  @Test("a place that only posts for friends name is there for their author and friends, in lists too")
  func known() async throws {
    try await UserClient.with { api in
      try await Self.befriend(api)
      let cove = try await Self.post(api, at: "cove", "friends")
      _ = try await Self.post(api, at: "reef", "friends", name: "Reef", longitude: 9.6)
      _ = try await Self.post(api, at: "reef", "friends", name: "", longitude: 9.61)
      for query in ["box=9,47,10,48", "near=9.62,47.5&radius=20000&sort=distance", "box=-180,-90,180,90&sort=saves"] {
        #expect(try await Self.ids(query, as: "bob", api) == ["reef", "cove"], "\(query)")
        #expect(try await Self.ids(query, as: "ada", api) == ["reef", "cove"], "\(query)")
        #expect(try await Self.ids(query, as: "eve", api) == [], "\(query)")
        let first = try await UserClient.send(api, "GET", "/v1/places?\(query)&limit=1", as: "bob").json
        let rest = try await Self.ids("\(query)&limit=1&cursor=\(#require(first["next"].text))", as: "bob", api)
        #expect(rest == ["cove"], "\(query)")
      }
      #expect(try await Self.ids("near=9.5,47.5&radius=1000", as: "bob", api) == ["cove"])
      #expect(try await Self.ids("id=cove&id=reef", as: "bob", api) == ["cove", "reef"])
      #expect(try await Self.ids("id=cove&id=reef", as: "eve", api) == [])
      let reef = try await UserClient.send(api, "GET", "/v1/places/reef", as: "bob").json
      #expect(reef["name"].text == "Reef" && reef["coordinate"]["longitude"] == .number(9.61))
      #expect(reef["counts"]["posts"] == .number(0))
      #expect(try await UserClient.send(api, "GET", "/v1/places/cove", as: "eve").status == 404)
      #expect(
        try await UserClient.send(api, "POST", "/v1/places/cove/comments", as: "eve", #"{"text":"x"}"#).status == 404)
      // It becomes known, but not what the post says of it.
      #expect(try await UserClient.send(api, "PUT", "/v1/users/eve/favourites/cove", as: "eve").status == 200)
      #expect(try await UserClient.send(api, "GET", "/v1/places/cove", as: "eve").json["name"] == .null)
      #expect(try await Self.ids("box=9,47,10,48", as: "eve", api) == [])
      #expect(try await UserClient.send(api, "GET", "/v1/places/cove", as: "bob").json["name"].text == "Cove")
      #expect(try await Self.ids("box=9,47,9.55,48", as: "bob", api) == ["cove"])
      #expect(try await UserClient.send(api, "DELETE", "/v1/users/eve/favourites/cove", as: "eve").status == 204)
      // Another visibility, an end of the friendship, deletion.
      #expect(try await UserClient.send(api, "PATCH", cove, as: "ada", #"{"visibility":"private"}"#).status == 200)
      #expect(try await Self.ids("id=cove", as: "bob", api) == [])
      #expect(try await UserClient.send(api, "PATCH", cove, as: "ada", #"{"visibility":"public"}"#).status == 200)
      #expect(try await Self.ids("box=9,47,9.55,48", as: "eve", api) == ["cove"])
      #expect(try await UserClient.send(api, "PATCH", cove, as: "ada", #"{"visibility":"friends"}"#).status == 200)
      #expect(try await Self.ids("box=9,47,9.55,48", as: "bob", api) == ["cove"])
      _ = try await UserClient.send(api, "DELETE", "/v1/users/bob/friends/ada", as: "bob")
      #expect(try await Self.ids("box=9,47,10,48", as: "bob", api) == [])
      #expect(try await Self.ids("id=cove&id=reef", as: "ada", api) == ["cove", "reef"])
      #expect(try await UserClient.send(api, "DELETE", cove, as: "ada").status == 204)
      #expect(try await UserClient.send(api, "GET", "/v1/places/cove", as: "ada").status == 404)
    }
  }

  @Test("a place without a photo has the images of its newest post that the viewer sees")
  func pictures() async throws {
    try await UserClient.with { api in
      try await Self.befriend(api)
      var assets: [String: String] = [:]
      for visibility in ["public", "friends", "private"] {
        let post = try await Self.post(api, at: "cove", visibility)
        assets[visibility] = try await Self.addImage(to: post, api)
      }
      func picture(_ user: String) async throws -> String? {
        let place = try await UserClient.send(api, "GET", "/v1/places/cove", as: user).json
        let listed = try await UserClient.send(api, "GET", "/v1/places?box=9,47,10,48", as: user).json["items"][0]
        #expect(listed["photo"].names == place["photo"].names)
        let url = place["photo"]["poster"]["url"].text
        if let url { #expect(try await UserClient.send(api, "GET", url, as: user).status == 200) }
        #expect(!place["photo"].names.contains("composed"))
        return assets.first { url?.contains($0.value) == true }?.key
      }
      #expect(try await picture("eve") == "public")
      #expect(try await picture("bob") == "friends")
      #expect(try await picture("ada") == "friends")
      _ = try await UserClient.send(api, "PUT", "/v1/users/ada/blocks/eve", as: "ada")
      #expect(try await picture("eve") == nil)
      #expect(try await picture("bob") == "friends")
      // A photo of the place comes first.
      let photo = try await Self.addPhoto(to: "cove", api)
      let place = try await UserClient.send(api, "GET", "/v1/places/cove", as: "eve").json
      #expect(place["photo"]["poster"]["url"].text?.contains(photo) == true)
    }
  }

  /// Stores an image and a clip of a post, and returns the id of the image.
  private static func addImage(to post: String, _ api: RunningAPI) async throws -> String {
    let (set, image) = try await addSet(api)
    try await api.pool.run { session in
      _ = try session.execute(
        "UPDATE post SET asset_set_id = $1::bigint WHERE public_id = $2::uuid", .integer(set),
        .text(String(post.dropFirst("/v1/posts/".count))))
    }
    return image
  }

  private static func addPhoto(to place: String, _ api: RunningAPI) async throws -> String {
    let (set, image) = try await addSet(api)
    try await api.pool.run { session in
      _ = try session.execute(
        """
        INSERT INTO image (public_id, kind, owner, author, status, asset_set_id)
        VALUES (gen_random_uuid(), 'place', $1, 'bob', 'ready', $2::bigint)
        """, .text(place), .integer(set))
    }
    return image
  }

  private static func addSet(_ api: RunningAPI) async throws -> (set: Int64, image: String) {
    let content = Array("image".utf8)
    let (hash, image) = (SHA256.digest(of: content).bytes, "\(PublicID.now())")
    return try await api.pool.run { session in
      try session.execute(
        "INSERT INTO blob (hash, bytes, inline_content) VALUES ($1, 5, $2) ON CONFLICT DO NOTHING", .bytes(hash),
        .bytes(content))
      let set: Int64 = try session.execute(
        "INSERT INTO asset_set (public_id) VALUES (gen_random_uuid()) RETURNING id"
      ).single().get("id")
      for (id, role, type) in [(image, "poster", "image/jpeg"), ("\(PublicID.now())", "composed", "video/mp4")] {
        try session.execute(
          """
          INSERT INTO asset (public_id, asset_set_id, role, blob, type, bytes)
          VALUES ($1::uuid, $2::bigint, $3, $4, $5, 5)
          """, .text(id), .integer(set), .text(role), .bytes(hash), .text(type))
      }
      return (set, image)
    }
  }
}
