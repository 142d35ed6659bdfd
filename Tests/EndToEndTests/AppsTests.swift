import FoundationEssentials
import HTTPTesting
import MediaFixtures
import Model
import Platform
import PostgresTesting
import Stills
import Take5Testing
import Testing
import WaitTesting

/// The requests of the screens of the four apps, as docs/apps.md lists them: by the phone of a user, and by another phone that must
/// not see what is not for it.
@Suite("Apps", .tags(.process), .timeLimit(.minutes(60)))
struct AppsTests {
  private static func photo(_ color: (UInt8, UInt8, UInt8), width: Int = 640, height: Int = 480) throws -> [UInt8] {
    try PhotoFixture.jpeg(
      PhotoFixture.image(width: width, height: height) { _, _ in color },
      exif: PhotoFixture.exif(orientation: 1, hasPosition: true))
  }

  private static func json(_ text: String) -> [UInt8] { Array(text.utf8) }

  /// The present month and date, and the time one day ago.
  private static func now() -> (month: String, yesterday: String, date: String) {
    let now = Date()
    let date = String(JSON.text(of: now).prefix(10))
    return (String(date.prefix(7)), JSON.text(of: now.addingTimeInterval(-86_400)), date)
  }

  @Test("Take5: a moment on the map, in the calendar, played, commented and reacted to")
  func take5() async throws {
    let service = try await Service(["--window", "18:00-18:05 UTC"])
    let api = try service.api()
    let (ada, bob, eve) = (
      try await api.phone(of: "ada"), try await api.phone(of: "bob"), try await api.phone(of: "eve")
    )
    // daily notification: the window opens by a schedule; the API returns it with its end
    try await service.openWindow()
    let window = try await ada.get("/v1/window")
    #expect(window["open"] == .boolean(true))
    #expect(window["closes_at"]?.text != nil && window["next_at"]?.text == nil)
    // record: both clips, the author, the flag of the foreground, the location
    let front = try TemporaryFile.bytes(of: Clips.front.write())
    let back = try TemporaryFile.bytes(of: Clips.back.write())
    let draft = #"{"author":"ada","foreground":"front","location":{"latitude":52.52,"longitude":13.4}}"#
    let post = try await ada.submit("/v1/posts", [("front", front), ("back", back), ("post", Self.json(draft))])
    #expect(post.status == 200 && post["status"]?.text == "ready", "\(service.process.log)")
    let id = try #require(post["id"]?.text)

    // map: posts since the start of the day inside the visible polygon, the newest first, also by user
    let (month, yesterday, today) = Self.now()
    let polygon = #"{"type":"Polygon","coordinates":[[[13.3,52.4],[13.5,52.4],[13.5,52.6],[13.3,52.6],[13.3,52.4]]]}"#
    for author in ["", #","author":"ada""#] {
      let found = try await ada.send(
        "POST", "/v1/posts/search", #"{"polygon":\#(polygon),"from":"\#(yesterday)"\#(author)}"#)
      #expect(found["items", 0, "id"]?.text == id)
    }
    let elsewhere = polygon.replacing("13.", with: "23.")
    #expect(
      try await ada.send("POST", "/v1/posts/search", #"{"polygon":\#(elsewhere)}"#)["items"]?.items.isEmpty == true)
    // sorted by distance from the user
    let near = try await ada.get("/v1/posts?near=13.41,52.53&sort=distance&from=\(yesterday)")
    #expect(near["items", 0, "id"]?.text == id)
    // the pin's pop-up: image, user name, date, numbers of comments and reactions
    let pin = try await ada.get("/v1/posts?box=13.3,52.4,13.5,52.6")
    #expect(pin["items", 0, "author"]?.text == "ada")
    #expect(pin["items", 0, "created_at"]?.text?.hasPrefix(today.prefix(7)) == true)
    #expect(pin["items", 0, "counts", "comments"]?.number == 0)
    let image = try await ada.get(try #require(pin["items", 0, "assets", "image", "url"]?.text))
    #expect(try StillImage(image.response.body).color(atX: 0.5, y: 0.25) == .blue)

    // calendar: the month's cells; the latest post of today
    let calendar = try await ada.get("/v1/users/ada/calendar?month=\(month)&zone=UTC")
    #expect(calendar["days", 0, "post"]?.text == id)
    #expect(calendar["days", 0, "image", "url"] != nil)
    #expect(try await ada.get("/v1/posts?author=ada&from=\(yesterday)&limit=1")["items", 0, "id"]?.text == id)

    // the latest post of today right after posting, while its media are being processed
    let next = try await ada.submit(
      "/v1/posts", [("front", front), ("back", back), ("post", Self.json(draft))], headers: [])
    let ofToday = "/v1/posts?author=ada&from=\(yesterday)&status=ready&status=processing&limit=1"
    #expect(try await ada.get(ofToday)["items", 0, "id"] == next["id"])
    #expect(try await ada.delete(try #require(next.response.headers["location"])) == 204)

    // post details: both clips can be read without any header, and a field names the foreground
    let details = try await ada.get("/v1/posts/\(id)")
    #expect(details["foreground"]?.text == "front")
    for role in ["clip.front", "clip.back", "composed"] {
      let url = try #require(details["assets"]?[.key(role)]?["url"]?.text)
      let clip = try await request("GET", url, port: api.port, headers: [("Range", "bytes=0-99")])
      #expect(clip.status == 206 && clip.headers["content-type"] == "video/mp4")
    }

    // comments: add, the latest one, all, counts
    for text in ["first", "second"] {
      #expect(try await bob.send("POST", "/v1/posts/\(id)/comments", #"{"text":"\#(text)"}"#).status == 201)
    }
    #expect(try await ada.get("/v1/posts/\(id)/comments?limit=1")["items", 0, "text"]?.text == "second")
    #expect(try await ada.get("/v1/posts/\(id)/comments")["items"]?.items.count == 2)

    // reactions: add a selfie, the latest one, all, counts
    for phone in [bob, eve] {
      let reaction = try await phone.submit("/v1/posts/\(id)/reactions", [("image", try Self.photo((200, 30, 30)))])
      #expect(reaction["status"]?.text == "ready")
    }
    let latest = try await ada.get("/v1/posts/\(id)/reactions?limit=1")
    #expect(latest["items", 0, "author"]?.text == "eve")
    #expect(try await ada.get("/v1/posts/\(id)/reactions")["items"]?.items.count == 2)
    let counted = try await ada.get("/v1/posts/\(id)")
    #expect(counted["counts", "comments"]?.number == 2 && counted["counts", "reactions"]?.number == 2)

    // for friends alone, another phone sees none of it
    #expect(try await ada.send("PATCH", "/v1/posts/\(id)", #"{"visibility":"friends"}"#).status == 200)
    try await ada.befriend(bob)
    for (phone, status) in [(bob, 200), (eve, 404)] {
      for path in ["", "/comments", "/reactions"] {
        #expect(try await phone.get("/v1/posts/\(id)\(path)").status == status)
      }
      let days = try await phone.get("/v1/users/ada/calendar?month=\(month)&zone=UTC&visibility=friends")["days"]
      #expect(days?.items.isEmpty == (status == 404))
    }
    #expect(try await eve.delete("/v1/posts/\(id)") == 404)

    // Deleting the post deletes all its rows and files.
    let reaction = try #require(latest["items", 0, "id"]?.text)
    #expect(try await ada.delete("/v1/posts/\(id)/reactions/\(reaction)") == 204)
    #expect(try await ada.get("/v1/posts/\(id)")["counts", "reactions"]?.number == 1)
    #expect(try await ada.delete("/v1/posts/\(id)") == 204)
    #expect(try await service.count("SELECT (SELECT count(*) FROM asset) + (SELECT count(*) FROM comment)::int") == 0)
    // What a job makes of a post that is deleted meanwhile goes when the job ends.
    try await service.waitForJobs()
    #expect(try service.blobFiles() == 0)
    #expect(try await service.stop() == 0)
  }

  @Test("Geotag: photos of a place with a caption, for all or for friends, and a profile image")
  func geotag() async throws {
    let service = try await Service()
    let api = try service.api()
    let (ada, bob) = (try await api.phone(of: "ada"), try await api.phone(of: "bob"))
    // make post: a place, photos, a caption; a caption alone is enough
    let place = #""place":{"id":"p1","name":"Lake","coordinate":{"latitude":47.5,"longitude":9.5}}"#
    let open = try await ada.submit(
      "/v1/posts",
      [
        ("photo", try Self.photo((30, 180, 30))), ("photo", try Self.photo((30, 30, 220))),
        ("post", Self.json(#"{"kind":"photo","author":"ada","caption":"calm",\#(place)}"#)),
      ])
    #expect(open["status"]?.text == "ready" && open["photos"]?.items.count == 2)
    let friends = try await ada.submit(
      "/v1/posts",
      [("post", Self.json(#"{"kind":"photo","author":"ada","caption":"us","visibility":"friends",\#(place)}"#))])
    #expect(friends.status == 201)

    // profile: own posts; users who are not friends see public posts only
    #expect(try await ada.get("/v1/posts?author=ada&visibility=public&visibility=friends")["items"]?.items.count == 2)
    for query in ["", "&visibility=public&visibility=friends"] {
      #expect(try await bob.get("/v1/posts?author=ada\(query)")["items"]?.items.count == 1)
    }
    // map feed: what lies inside the box of longitude and latitude; location: posts of a place
    #expect(try await ada.get("/v1/posts?box=9,47,10,48&kind=photo")["items", 0, "place", "id"]?.text == "p1")
    #expect(try await ada.get("/v1/posts?place=p1")["items", 0, "photos", 0, "photo.large", "url"] != nil)

    // post: comment and delete the comment
    let id = try #require(open["id"]?.text)
    let comment = try await bob.send("POST", "/v1/posts/\(id)/comments", #"{"text":"nice"}"#)
    #expect(try await bob.delete("/v1/posts/\(id)/comments/\(try #require(comment["id"]?.text))") == 204)
    #expect(try await ada.get("/v1/posts/\(id)")["counts", "comments"]?.number == 0)
    // private or public, and another caption, afterwards
    let changed = try await ada.send("PATCH", "/v1/posts/\(id)", #"{"visibility":"private","caption":"mine"}"#)
    #expect(changed["visibility"]?.text == "private" && changed["caption"]?.text == "mine")
    #expect(try await bob.get("/v1/posts/\(id)").status == 404)

    // change the profile image: read as JSON and as bytes
    let image = try await ada.submit(
      "/v1/users/ada/profile-image", [("image", try Self.photo((9, 9, 200)))], method: "PUT")
    #expect(image["status"]?.text == "ready")
    #expect(try await bob.delete("/v1/users/ada/profile-image") == 403)
    let shown = try await bob.get("/v1/users/ada/profile-image")
    #expect(shown["assets", "avatar", "thumbhash"] != nil && shown["assets", "avatar", "color"] != nil)
    let bytes = try await ada.get("/v1/users/ada/profile-image", [("Accept", "image/*")])
    #expect(bytes.response.headers["content-type"] == "image/jpeg")
    let square = try JPEGDecoder.decode(bytes.response.body, limits: JPEGLimits(pixels: 1 << 20))
    #expect(square.width == square.height)
    #expect(try await ada.delete("/v1/users/ada/profile-image") == 204)
    #expect(try await ada.get("/v1/users/ada/profile-image").status == 404)
    #expect(try await service.stop() == 0)
  }

  @Test("Places: a thumbnail of an itinerary and photos of a place, which can be cached")
  func places() async throws {
    let service = try await Service()
    let api = try service.api()
    let (ada, bob) = (try await api.phone(of: "ada"), try await api.phone(of: "bob"))
    for color in [(200, 0, 0), (0, 0, 200)] as [(UInt8, UInt8, UInt8)] {
      let thumbnail = try await ada.submit(
        "/v1/itineraries/trip/thumbnail", [("image", try Self.photo(color))], method: "PUT")
      #expect(thumbnail["status"]?.text == "ready")
    }
    let thumbnail = try await ada.get("/v1/itineraries/trip/thumbnail")
    let asset = thumbnail["assets", "photo.medium"]
    // a placeholder while loading, and the image from the cache
    #expect(asset?["thumbhash"] != nil && asset?["color"]?.text?.hasPrefix("#0") == true)
    let url = try #require(asset?["url"]?.text)
    let image = try await ada.get(url)
    let tag = try #require(image.response.headers["etag"])
    #expect(image.response.headers["cache-control"]?.contains("public, max-age=") == true)
    #expect(try await ada.get(url, [("If-None-Match", tag)]).status == 304)

    for color in [(1, 2, 3), (4, 5, 6), (7, 8, 9)] as [(UInt8, UInt8, UInt8)] {
      #expect(
        try await ada.submit(
          "/v1/places/tower/photos", [("image", try Self.photo(color))])["status"]?.text
          == "ready")
    }
    let first = try await ada.get("/v1/places/tower/photos?limit=2")
    #expect(first["items"]?.items.count == 2 && first["items", 0, "author"]?.text == "ada")
    let rest = try await ada.get("/v1/places/tower/photos?cursor=\(try #require(first["next"]?.text))")
    #expect(rest["items"]?.items.count == 1)
    let photo = try #require(rest["items", 0, "id"]?.text)
    #expect(try await ada.delete("/v1/places/tower/photos/\(photo)") == 204)
    #expect(try await ada.get("/v1/places/tower/photos")["items"]?.items.count == 2)
    // a user's own photos of the place
    let own = try await bob.submit(
      "/v1/places/tower/photos",
      [("alternative_text", Self.json("The gate at dusk")), ("image", try Self.photo((9, 9, 9)))])
    #expect(own["alternative_text"]?.text == "The gate at dusk")
    // another phone deletes neither the photo nor the thumbnail
    #expect(try await ada.delete("/v1/places/tower/photos/\(try #require(own["id"]?.text))") == 403)
    #expect(try await bob.delete("/v1/itineraries/trip/thumbnail") == 403)
    #expect(try await ada.get("/v1/places/tower/photos?author=bob")["items"]?.items.map { $0["id"] } == [own["id"]])
    #expect(try await ada.get("/v1/places/tower/photos?author=ada")["items"]?.items.count == 2)
    // profile: the image of the user
    #expect(
      try await ada.submit("/v1/users/ada/profile-image", [("image", try Self.photo((5, 5, 5)))], method: "PUT").status
        == 200)
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
