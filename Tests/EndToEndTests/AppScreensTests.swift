import FoundationEssentials
import Glibc
import HTTPTesting
import MediaFixtures
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing

/// The screens of docs/apps.md whose records users share: as the phone of the user, and as another phone that must not see them.
@Suite("Screens of the apps", .tags(.process), .timeLimit(.minutes(15)))
struct AppScreensTests {
  private static func photo(_ color: (UInt8, UInt8, UInt8)) throws -> [UInt8] {
    try PhotoFixture.jpeg(
      PhotoFixture.image(width: 640, height: 480) { _, _ in color },
      exif: PhotoFixture.exif(orientation: 1, hasPosition: true))
  }

  private static func now(secondsAgo: Double = 0) -> String { JSON.text(of: Date().addingTimeInterval(-secondsAgo)) }

  @Test("Take5: a moment is on time, late or outside of the window, and is listed to its author at once")
  func take5() async throws {
    let service = try await Service(workers: 0)
    let api = try service.api()
    let (ada, eve) = (try await api.phone(of: "ada"), try await api.phone(of: "eve"))
    let media = [
      ("front", try TemporaryFile.bytes(of: Clips.front.write())),
      ("back", try TemporaryFile.bytes(of: Clips.back.write())),
    ]
    func film(_ captured: String) async throws -> API.Response {
      let draft = #"{"author":"ada","visibility":"private","alternative_text":"Dusk","captured_at":"\#(captured)"}"#
      return try await api.submit(
        "/v1/posts", media.map { (name: $0.0, bytes: $0.1) } + [("post", Array(draft.utf8))], headers: [])
    }
    try await service.openWindow()
    let onTime = try await film(Self.now())
    #expect(onTime["window", "state"]?.text == "on_time" && onTime["alternative_text"]?.text == "Dusk")
    #expect(try await film(Self.now(secondsAgo: 7200))["window", "state"]?.text == "outside")
    try await service.execute(
      "UPDATE daily_window SET opened_at = opened_at - interval '1 hour', closes_at = closes_at - interval '1 hour'")
    #expect(try await film(Self.now())["window", "state"]?.text == "late")
    // right after posting
    let list = "/v1/posts?author=ada&visibility=private&status=ready&status=processing"
    #expect(try await ada.send("GET", list)["items"]?.items.count == 3)
    #expect(try await eve.send("GET", list)["items"]?.items.isEmpty == true)
    let post = try #require(onTime["id"]?.text)
    #expect(try await eve.send("GET", "/v1/posts/\(post)").status == 404)
    #expect(try await service.stop() == 0)
  }

  @Test("Geotag and KickIt: places with posts in a box, users there, and hot spots; what is for friends does not count")
  func places() async throws {
    let service = try await Service(workers: 0)
    let api = try service.api()
    let (ada, bob, eve) = (
      try await api.phone(of: "ada"), try await api.phone(of: "bob"), try await api.phone(of: "eve")
    )
    try await ada.befriend(bob)
    func post(_ title: String, _ visibility: String, at place: String, longitude: Double) async throws -> String {
      let place = #"{"id":"\#(place)","name":"The \#(place)","coordinate":{"latitude":47.5,"longitude":\#(longitude)}}"#
      let body = #"{"kind":"marker","title":"\#(title)","visibility":"\#(visibility)","place":\#(place)}"#
      return try #require(try await ada.send("POST", "/v1/posts", body)["id"]?.text)
    }
    _ = try await post("open", "public", at: "lake", longitude: 9.5)
    let hidden = try await post("for friends", "friends", at: "hut", longitude: 9.51)
    // map feed: locations with posts inside the box, and own and friends' posts
    for phone in [ada, bob, eve] {
      let places = try await phone.send("GET", "/v1/places?box=9,47,10,48")
      #expect(places["items"]?.items.compactMap { $0["id"]?.text } == ["lake"])
      #expect(places["items", 0, "counts", "posts"]?.number == 1)
      #expect(try await phone.send("GET", "/v1/places/hut").status == 404)
    }
    let feed = "/v1/posts?box=9,47,10,48&visibility=public&visibility=friends"
    #expect(try await bob.send("GET", feed)["items"]?.items.count == 2)
    #expect(try await eve.send("GET", feed)["items"]?.items.count == 1)
    // location: name, coordinate, number of posts, users with posts there
    let lake = try await eve.send("GET", "/v1/places/lake")
    #expect(lake["name"]?.text == "The lake" && lake["coordinate", "latitude"]?.number == 47)
    #expect(try await eve.send("GET", "/v1/places/lake/users")["items", 0, "user"]?.text == "ada")
    // hot spots
    let spots = try await eve.send("GET", "/v1/map?box=9,47,10,48&from=\(Self.now(secondsAgo: 3600))")
    #expect(spots["cells"]?.items.count == 1 && spots["cells", 0, "posts"]?.number == 1)
    #expect(spots["period"]?.text == "hour")
    // the talk about an event
    #expect(try await bob.send("POST", "/v1/posts/\(hidden)/comments", #"{"text":"On my way"}"#).status == 201)
    #expect(try await eve.send("GET", "/v1/posts/\(hidden)/comments").status == 404)
    // each user describes a place, and what most of them say is shown
    let described =
      #"{"name":"Lake","categories":["swim"],"rating":4.5,"price_level":1,"coordinate":{"latitude":47.5,"longitude":9.5}}"#
    #expect(try await bob.send("PUT", "/v1/places/lake", described)["rating"] != nil)
    #expect(try await eve.send("PUT", "/v1/places/lake", "{}")["rating"]?.number != nil)
    #expect(try await eve.send("GET", "/v1/places?category=swim")["items", 0, "id"]?.text == "lake")
    // a user's own notes
    #expect(try await ada.send("PUT", "/v1/users/ada/notes/lake", #"{"text":"Cold"}"#).status == 200)
    #expect(try await ada.send("GET", "/v1/places/lake")["note"]?.text == "Cold")
    #expect(try await eve.send("GET", "/v1/places/lake")["note"] == nil)
    #expect(try await eve.send("GET", "/v1/users/ada/notes/lake").status == 403)
    #expect(try await service.stop() == 0)
  }

  @Test("Places: itineraries with their thumbnail, shared with viewers, editors and by a link; favourites in an order")
  func itineraries() async throws {
    let service = try await Service()
    let api = try service.api()
    let (ada, bob, eve) = (
      try await api.phone(of: "ada"), try await api.phone(of: "bob"), try await api.phone(of: "eve")
    )
    #expect(
      try await ada.submit("/v1/places/tower/photos", [("image", Self.photo((220, 40, 40)))])["status"]?.text == "ready"
    )
    // create, with all properties; the thumbnail is the first place's photo
    let created = try await ada.send(
      "POST", "/v1/collections",
      """
      {"kind":"itinerary","name":"Lisbon","fields":{"start_date":"2026-12-01","end_date":"2026-12-05","lodging":"Inn",
        "lodging_price":320,"travel":"Train","travel_price":120,"total_cost":700},"items":[{"place":"tram"},{"place":"tower"}]}
      """)
    let path = try #require(created.response.headers["location"])
    let url = try #require(created["thumbnail", "photo.medium", "url"]?.text)
    #expect(try await api.get(url).response.headers["content-type"] == "image/jpeg")
    // another phone must not see it
    for (method, suffix) in [
      ("GET", ""), ("GET", "/members"), ("GET", "/activity"), ("GET", "/comments"), ("DELETE", ""),
    ] {
      #expect(try await eve.send(method, path + suffix).status == 404)
    }
    // with a thumbnail of its own
    #expect(
      try await ada.submit("\(path)/thumbnail", [("image", Self.photo((40, 40, 220)))], method: "PUT")["status"]?.text
        == "ready")
    #expect(try await ada.send("GET", path)["thumbnail", "photo.medium", "url"]?.text != url)
    // viewer or editor; edit; two editors at once
    #expect(try await ada.send("PUT", "\(path)/members/bob", #"{"role":"editor"}"#).status == 204)
    let version = try #require(try await bob.send("GET", path).response.headers["etag"])
    let edit = #"{"name":"Lisbon and Porto","items":[{"place":"tower"},{"place":"tram"}]}"#
    #expect(try await bob.send("PATCH", path, edit, version: version)["items", 0, "place"]?.text == "tower")
    #expect(try await ada.send("PATCH", path, #"{"name":"x"}"#, version: version).status == 412)
    // mine or shared with me
    #expect(try await ada.send("GET", "/v1/collections?role=author")["items"]?.items.count == 1)
    #expect(try await bob.send("GET", "/v1/collections?role=editor")["items", 0, "author"]?.text == "ada")
    #expect(try await eve.send("GET", "/v1/collections")["items"]?.items.isEmpty == true)
    // the link alone lets one see it
    let link = try #require(try await ada.send("POST", "\(path)/link")["url"]?.text)
    #expect(try await eve.send("GET", link)["role"]?.text == "link")
    // activity
    let kinds = try await ada.send("GET", "\(path)/activity")["items"]?.items.compactMap { $0["kind"]?.text }
    #expect(Set(kinds ?? []) == ["created", "viewed", "edited", "shared"])
    // remove access; delete for oneself, and for all
    #expect(try await ada.send("DELETE", "\(path)/link").status == 204)
    #expect(try await eve.send("GET", link).status == 404)
    #expect(try await bob.send("DELETE", path).status == 204)
    #expect(try await bob.send("GET", path).status == 404)
    // favourites: in an order, and how many have a place
    let list = try await ada.send(
      "POST", "/v1/collections", #"{"kind":"favourites","name":"Mine","items":[{"place":"tram"},{"place":"tower"}]}"#)
    #expect(list.status == 201)
    _ = try await bob.send("PUT", "/v1/users/bob/favourites/tower")
    let tower = try await eve.send("GET", "/v1/places/tower")
    #expect(tower["counts", "favourites"]?.number == 1 && tower["counts", "collections"]?.number == 0)
    #expect(try await ada.send("GET", "/v1/places/tower")["counts", "collections"]?.number == 2)
    #expect(tower["photo", "photo.medium"] != nil)
    #expect(try await eve.send("GET", "/v1/places?sort=saves")["items", 0, "id"]?.text == "tower")
    #expect(try await ada.send("DELETE", path).status == 204)
    #expect(try await ada.send("GET", "/v1/places/tower")["counts", "collections"]?.number == 1)
    let verified = try await Take5Command.run(["verify", "--data", service.data])
    #expect(verified.status == 0, "\(verified)")
    #expect(try await service.stop() == 0)
  }

  @Test(
    "all apps: a moment is held until a moderator decides, a user reports a comment, and an operator suspends its author"
  )
  func moderation() async throws {
    let folder = try TemporaryFolder()
    let moment = try Document("jobs/take5-post.json").text
    try Descriptor(writing: "\(folder.path)/moments.json", replacing: true).write(
      Array(moment.replacing("\"version\":", with: "\"moderation\": \"hold\", \"version\":").utf8))
    let service = try await Service(["--definitions", folder.path])
    let api = try service.api()
    let (ada, bob) = (try await api.phone(of: "ada"), try await api.phone(of: "bob"))
    let mallory = try await api.phone(of: "mallory")
    let held = try await ada.submit(
      "/v1/posts",
      [
        ("front", try TemporaryFile.bytes(of: Clips.front.write())),
        ("back", try TemporaryFile.bytes(of: Clips.back.write())), ("post", Array(#"{"title":"Dusk"}"#.utf8)),
      ])
    #expect(held["status"]?.text == "held", "\(service.process.log)")
    let post = "/v1/posts/\(try #require(held["id"]?.text))"
    // its author plays it, and another phone does not
    let clip = try #require(held["assets", "composed", "url"]?.text)
    #expect(clip.contains("signature="))
    #expect(try await ada.get(clip).response.headers["content-type"] == "video/mp4")
    for path in [post, String(clip.prefix { $0 != "?" })] { #expect(try await bob.get(path).status == 404) }
    // a moderator who comes back later finds the case in the stream and in the list
    let opened = try #require(try await api.get("/v1/moderation/cases")["items", 0, "id"]?.text)
    let approved = try await api.send(
      "POST", "/v1/moderation/cases/\(opened)/decision", #"{"decision":"approve"}"#)
    #expect(approved["post"] == held["id"])
    let shown = try await bob.get(post)
    #expect(shown["status"]?.text == "ready")
    let url = try #require(shown["assets", "composed", "url"]?.text)
    #expect(try await request("GET", url, port: api.port).status == 200)

    // an insult is reported; the operator looks at the case, hides the comment and suspends its author
    let insult = try await mallory.send("POST", "\(post)/comments", #"{"text":"Ugly!"}"#)
    let id = try #require(insult["id"]?.text)
    #expect(try await bob.send("POST", "/v1/reports", #"{"comment":"\#(id)","reason":"insult"}"#).status == 201)
    func take5(_ arguments: String...) async throws -> String {
      let command = try await Take5Command.run(["moderation"] + arguments + ["--data", service.data])
      #expect(command.status == 0, "\(command.errors)")
      return command.output
    }
    #expect(try await take5("list").contains("comment \(id)"))
    let reported = try #require(try await api.get("/v1/moderation/cases")["items", 0, "id"]?.text)
    #expect(try await take5("show", reported).contains("insult, by bob"))
    #expect(try await take5("hide", reported).contains("is hidden"))
    #expect(try await take5("suspend", "--user", "mallory", "--note", "insults").contains("suspended"))
    #expect(try await ada.get("\(post)/comments")["items"]?.items.isEmpty == true)
    #expect(try await ada.get(post)["counts", "comments"]?.number == 0)
    // within seconds
    try await until { try await mallory.get(post).status != 200 }
    #expect(try await mallory.get(post)["type"]?.text == "urn:take5:problem:user_suspended")
    #expect(try await take5("approve", "--user", "mallory").contains("approved"))
    try await until { try await mallory.get(post).status != 403 }
    let wrong = try await Take5Command.run(["moderation", "hide", reported, "--user", "bob", "--data", service.data])
    #expect(wrong.status == 64 && wrong.errors.contains("one thing"))
    let verified = try await Take5Command.run(["verify", "--data", service.data])
    #expect(verified.status == 0, "\(verified)")
    #expect(try await service.stop() == 0)
  }

  @Test("a folder of definitions that the service cannot follow prevents its start, with the name of the file")
  func definitions() async throws {
    for (name, change, reason) in [
      ("reaction", "\"moderation\": \"hold\", \"version\":", "only posts can be held"),
      ("reaction", "\"verse\":", "version"),
    ] {
      let folder = try TemporaryFolder()
      let definition = try Document("jobs/\(name).json").text
      try Descriptor(writing: "\(folder.path)/own.json", replacing: true).write(
        Array(definition.replacing("\"version\":", with: change).utf8))
      let refused = try await Take5Command.run([
        "serve", "--data", "\(folder.path)/data", "--definitions", folder.path, "--listen", "127.0.0.1:0",
      ])
      #expect(
        refused.status == 78 && refused.errors.contains("own.json") && refused.errors.contains(reason), "\(refused)")
    }
  }
}
