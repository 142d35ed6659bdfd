import FoundationEssentials
import HTTPTesting
import MediaFixtures
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing

/// The stories of docs/apps.md, one after the other on one service: by the phone of a user, and by the phone of a stranger, who must
/// not see what is for friends.
@Suite("Stories of the apps", .tags(.process), .timeLimit(.minutes(60)))
struct AppStoryTests {
  @Test("each screen of the four apps is one request, and a stranger's phone sees nothing of what is for friends")
  func stories() async throws {
    let rows = try AppStories().rows
    #expect(Set(rows.map(\.app)).count == 5 && rows.count > 60)
    var scene = try await AppScene()
    for row in rows {
      let response = try await scene.send(row, as: scene.ada)
      var expected = 200...299
      for claim in row.claims {
        switch claim {
        case .status(let status): expected = status...status
        case .value(let path, let name):
          let value = response.value(at: scene.filled(path))
          #expect(value != nil, "\(row.testDescription): \(path) in \(response.text)")
          if let name { scene.values[name] = value?.text }
        }
      }
      #expect(expected.contains(response.status), "\(row.testDescription): \(response.status) \(response.text)")
      if row.stranger == "-" { continue }
      let other = try await scene.send(row, as: scene.eve)
      guard row.stranger == "without" else {
        #expect("\(other.status)" == row.stranger, "\(row.testDescription), of a stranger: \(other.text)")
        continue
      }
      #expect(other.status == 200, "\(row.testDescription), of a stranger: \(other.text)")
      for (name, id) in scene.secrets {
        #expect(!other.text.contains(id), "\(row.testDescription) shows a stranger \(name)")
      }
    }
    #expect(try await scene.service.stop() == 0)
  }
}

extension API.Response {
  var text: String { String(decoding: response.body, as: UTF8.self) }
}

/// A service with users and what they have made: Ada and Bob are friends, and Eve is a stranger.
struct AppScene {
  let service: Service
  let ada: API
  let eve: API
  /// What the names in braces stand for.
  var values: [String: String]
  /// The ids that a stranger must not see.
  private(set) var secrets: [String: String] = [:]
  private let media: [String: [UInt8]]

  init() async throws {
    let folder = try TemporaryFolder(prefix: "take5-apps")
    let moment = try await EmptyStore.smallDefinition()
    try Descriptor(writing: "\(folder.path)/moments.json", replacing: true).write(
      Descriptor(reading: moment).contents())
    try Descriptor(writing: "\(folder.path)/fields.json", replacing: true).write(Array(Self.fields.utf8))
    service = try await Service(
      ["--accounts", "on", "--definitions", folder.path], environment: ["TAKE5_API_KEY": "stories"])
    let api = try service.api(key: "stories")
    try await service.openWindow()
    ada = try await api.phone(of: "ada")
    eve = try await api.phone(of: "eve")
    let bob = try await api.phone(of: "bob")
    let photo = try PhotoFixture.jpeg(
      PhotoFixture.image(width: 640, height: 480) { _, _ in (30, 180, 30) },
      exif: PhotoFixture.exif(orientation: 1, hasPosition: false))
    media = [
      "front": try TemporaryFile.bytes(of: Clips.front.write()),
      "back": try TemporaryFile.bytes(of: Clips.back.write()),
      "photo": photo, "image": photo,
    ]
    let now = Date()
    let day = { (days: Double) in JSON.text(of: now.addingTimeInterval(days * 86_400)) }
    // In Berlin, which is two hours ahead at the ends of March to September, and one at those of the other months.
    let isSummer = ["03", "04", "05", "06", "07", "08", "09"].contains(JSON.text(of: now).dropFirst(5).prefix(2))
    let month = String(JSON.text(of: now.addingTimeInterval(isSummer ? 7200 : 3600)).prefix(7))
    values = [
      "me": "ada", "friend": "bob", "stranger": "eve", "troll": "troll", "device": "phone:1", "place": "lake",
      "today": day(-0.5),
      "tomorrow": day(1), "month": month,
      "polygon": Self.polygon([(13.3, 52.4), (13.5, 52.4), (13.5, 52.6), (13.3, 52.6)]),
      "world": Self.polygon([(-180, -85), (180, -85), (180, 85), (-180, 85)]),
    ]
    try await ada.befriend(bob)
    _ = try await api.phone(of: "troll")
    for phone in [ada, bob, eve] {
      _ = try await phone.submit("/v1/users/\(phone.user ?? "")/profile-image", [("image", photo)], method: "PUT")
    }
    let place = #""place":{"id":"lake","name":"Lake","coordinate":{"latitude":52.5,"longitude":13.4}}"#
    let described = try await api.send(
      "PUT", "/v1/places/lake",
      #"{"name":"Lake","coordinate":{"latitude":52.5,"longitude":13.4},"categories":["water"]}"#)
    #expect(described.status == 200)
    try await add("own", by: ada, ["front", "back"], #"{"visibility":"friends",\#(place)}"#)
    try await add("album", by: ada, ["photo", "photo"], #"{"kind":"photo","visibility":"friends",\#(place)}"#)
    try await add("marker", by: bob, [], #"{"kind":"marker","title":"Concert","visibility":"friends",\#(place)}"#)
    _ = try await bob.submit("/v1/places/lake/photos", [("image", photo)])
    let open = try await bob.send("POST", "/v1/posts", #"{"kind":"marker","title":"For all",\#(place)}"#)
    #expect(open.status == 201, "\(open.text)")
    // The newest one, which lists begin with.
    try await add("moment", by: bob, ["front", "back"], #"{"visibility":"friends",\#(place)}"#)
    try await addCollections(by: bob)
  }

  private static let fields = """
    {"name":"fields","version":1,"posts":{"starts_at":{"type":"time","searchable":true},
    "genre":{"type":"choice","choices":["jazz","techno"],"searchable":true}}}
    """

  private static func polygon(_ corners: [(Double, Double)]) -> String {
    let ring = (corners + corners.prefix(1)).map { "[\($0.0),\($0.1)]" }.joined(separator: ",")
    return #"{"type":"Polygon","coordinates":[[\#(ring)]]}"#
  }

  /// Adds a post for friends.
  private mutating func add(_ name: String, by phone: API, _ parts: [String], _ draft: String) async throws {
    let post = try await phone.submit("/v1/posts", parts.map { ($0, media[$0] ?? []) } + [("post", Array(draft.utf8))])
    let id = try #require(post["id"]?.text, "\(post.text) \(service.process.log)")
    (values[name], secrets[name]) = (id, id)
  }

  private mutating func addCollections(by bob: API) async throws {
    for (name, phone, draft) in [
      ("trip", ada, #"{"kind":"itinerary","name":"Spring","items":[{"place":"lake"}]}"#),
      ("party", ada, #"{"kind":"album","name":"Party"}"#),
      ("plan", bob, #"{"kind":"itinerary","name":"Summer","visibility":"friends","items":[{"place":"lake"}]}"#),
    ] {
      let made = try await phone.send("POST", "/v1/collections", draft)
      let id = try #require(made["id"]?.text, "\(made.text)")
      (values[name], secrets[name]) = (id, id)
    }
  }

  /// A text with the values of the names in braces.
  func filled(_ text: String) -> String {
    values.reduce(text) { $0.replacing("{\($1.key)}", with: $1.value) }
  }

  /// Sends the request of a row. In a row whose screen is the stranger's own, `{me}` is the stranger.
  func send(_ row: AppStories.Row, as phone: API) async throws -> API.Response {
    var scene = self
    if row.stranger == "without" { scene.values["me"] = phone.user }
    let target = scene.filled(row.target).replacing("+", with: "%2B")
    guard row.parts.isEmpty else {
      let parts = row.parts.map { part -> (name: String, bytes: [UInt8]) in
        let pieces = part.split(separator: "=", maxSplits: 1)
        let name = String(pieces[0])
        return (name, pieces.count > 1 ? Array(scene.filled(String(pieces[1])).utf8) : media[name] ?? [])
      }
      return try await phone.submit(target, parts, method: row.method, headers: [])
    }
    return try await phone.send(row.method, target, row.json.map(scene.filled), version: row.version)
  }
}
