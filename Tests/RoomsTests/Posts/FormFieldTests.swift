import BoxTesting
import HTTPTesting
import Model
import Testing

@testable import Kit
@testable import Rooms

@Suite("Fields of a post in a form and in JSON", .tags(.database, .network), .timeLimit(.minutes(60)))
struct FormFieldTests {
  private static func form(
    _ fields: [(String, String)], media: [String] = [], post: String? = nil
  ) -> MultipartForm {
    var form = MultipartForm()
    for (name, value) in fields { form.add(name, Array(value.utf8)) }
    for (seed, name) in media.enumerated() {
      let isClip = ["front", "back", "video"].contains(name)
      form.add(name, filename: "file", isClip ? boxedClip(seed: UInt8(seed)) : PhotoSubmissionTests.jpeg)
    }
    if let post { form.add("post", Array(post.utf8)) }
    return form
  }

  private static func send(_ json: String, _ api: RunningAPI) async throws -> ClientResponse {
    try await request(
      "POST", "/v1/posts", port: api.port, headers: [("Content-Type", "application/json; charset=utf-8")],
      body: Array(json.utf8))
  }

  private static func fields(_ response: ClientResponse) -> [String] {
    guard case .array(let errors) = response.json["errors"] else { return ["status \(response.status)"] }
    return errors.compactMap { $0["field"].text }
  }

  @Test("every field is read from a text part, in any order of the parts")
  func all() async throws {
    try await RunningAPI.with { api in
      let fields = [
        ("longitude", "-1.5e1"), ("kind", "take5"), ("caption", "Dämmerung"), ("author", "7"), ("title", "Lake"),
        ("visibility", "friends"), ("foreground", "back"), ("captured_at", "2026-11-20T18:30:00+00:00"),
        ("latitude", "52.5163"), ("place", "lake"), ("place_name", "See"), ("place_latitude", "52"),
        ("place_longitude", "13.25"),
      ]
      let response = try await api.submit(Self.form(fields, media: ["front", "back"]))
      #expect(response.status == 202)
      let post = response.json
      #expect(post["kind"] == .string("take5") && post["author"] == .string("7"))
      #expect(post["title"] == .string("Lake") && post["caption"] == .string("Dämmerung"))
      #expect(post["visibility"] == .string("friends") && post["foreground"] == .string("back"))
      #expect(post["captured_at"] == .string("2026-11-20T18:30:00.000Z"))
      #expect(post["location"] == .object(["latitude": .number(52.5163), "longitude": .number(-15)]))
      let center = JSONValue.object(["latitude": .number(52), "longitude": .number(13.25)])
      #expect(post["place"] == .object(["id": .string("lake"), "name": .string("See"), "coordinate": center]))
    }
  }

  @Test("a form has the location as in JSON, or as two numbers, but not both")
  func location() async throws {
    try await RunningAPI.with { api in
      func submit(_ fields: [(String, String)]) async throws -> ClientResponse {
        try await api.submit(Self.form([("kind", "marker"), ("author", "ada"), ("title", "Here")] + fields))
      }
      let object = [("location", #"{"latitude":52.5163,"longitude":-15}"#)]
      let location = JSONValue.object(["latitude": .number(52.5163), "longitude": .number(-15)])
      #expect(try await submit(object).json["location"] == location)
      #expect(try await submit([("latitude", "52.5163"), ("longitude", "-15")]).json["location"] == location)
      for (fields, named) in [
        (object + [("latitude", "52"), ("longitude", "13")], ["latitude", "longitude"]),
        ([("location", #"{"latitude":91,"longitude":0}"#)], ["location.latitude"]),
        ([("location", #"{"latitude":52}"#)], ["location.longitude"]),
        ([("location", "52,13")], ["location"]),
      ] {
        let refused = try await submit(fields)
        #expect(refused.status == 400 && Self.fields(refused) == named, "\(fields)")
      }
    }
  }

  @Test(
    "each kind accepts its own media only",
    arguments: [
      ("take5", ["front", "back"], 202), ("photo", ["photo", "photo"], 202), ("marker", ["image"], 202),
      ("marker", ["video"], 202), ("take5", [], 400), ("photo", [], 400), ("marker", [], 400),
      ("marker", ["image", "video"], 400), ("photo", ["front", "back"], 400),
    ])
  func kinds(kind: String, media: [String], status: Int) async throws {
    try await RunningAPI.with { api in
      let response = try await api.submit(Self.form([("kind", kind), ("author", "ada")], media: media))
      #expect(response.status == status)
    }
  }

  /// Fields of a form, and the names in the errors.
  private static let invalidFields: [(fields: [String], named: [String])] = [
    ([], ["author", "kind"]),
    (["author=ada"], ["kind"]),
    (["kind=marker"], ["author"]),
    (["kind=film", "author="], ["kind", "author"]),
    (["kind=marker", "author=ada", "latitude=91", "longitude=x"], ["latitude", "longitude"]),
    (["kind=marker", "author=ada", "latitude=0x10", "longitude=nan"], ["latitude", "longitude"]),
    (["kind=marker", "author=ada", "latitude=5"], ["longitude"]),
    (["kind=marker", "author=ada", "place_longitude=5"], ["place_latitude", "place"]),
    (["kind=marker", "author=ada", "place_name=Lake"], ["place"]),
    (["kind=marker", "author=ada", "captured_at=noon", "visibility="], ["visibility", "captured_at"]),
    (["kind=marker", "author=ada", "mood=calm"], ["mood"]),
    (["kind=marker", "author=ada", "author=eve"], ["author"]),
  ]

  @Test("invalid, missing and incomplete fields are named in the errors", arguments: invalidFields.indices)
  func invalid(row: Int) async throws {
    try await RunningAPI.with { api in
      let (fields, named) = Self.invalidFields[row]
      let pairs = fields.map { field in
        let parts = field.split(separator: "=", omittingEmptySubsequences: false)
        return (String(parts[0]), String(parts[1]))
      }
      let response = try await api.submit(Self.form(pairs, media: ["image"]))
      #expect(response.status == 400)
      #expect(Self.fields(response) == named)
      #expect(try await api.storedCount() == 0)
    }
  }

  @Test("fields that are not UTF-8, too long in total, or in addition to the part post are refused")
  func refused() async throws {
    try await RunningAPI.with { api in
      var broken = Self.form([("kind", "marker"), ("author", "ada")])
      broken.add("title", [0x4C, 0xFF])
      let notUTF8 = try await api.submit(broken)
      #expect(Self.fields(notUTF8) == ["title"])
      let half = String(repeating: "x", count: 40_000)
      let long = [("kind", "marker"), ("author", "ada"), ("title", half), ("caption", half)]
      let tooLong = try await api.submit(Self.form(long))
      #expect(Self.fields(tooLong) == ["caption"])
      let twice = Self.form([("author", "ada")], media: ["image"], post: #"{"kind":"marker","author":"ada"}"#)
      let both = try await api.submit(twice)
      #expect(Self.fields(both) == ["author"])
      #expect(try await api.storedCount() == 0)
    }
  }

  @Test("the order of the fields does not change the payload of an idempotency key")
  func replay() async throws {
    try await RunningAPI.with { api in
      let key = [("Idempotency-Key", "k1")]
      let fields = [("kind", "marker"), ("author", "ada"), ("title", "Here")]
      let first = try await api.submit(Self.form(fields), headers: key)
      #expect(first.status == 201)
      let second = try await api.submit(Self.form(fields.reversed()), headers: key)
      #expect(second.body == first.body && second.headers["idempotency-replayed"] == "true")
      let other = [("kind", "marker"), ("author", "ada"), ("caption", "Here")]
      #expect(try await api.submit(Self.form(other), headers: key).status == 422)
    }
  }

  @Test("a post without media may be JSON, with its place as an object")
  func json() async throws {
    try await RunningAPI.with { api in
      let response = try await Self.send(
        #"{"kind":"marker","author":"ada","title":"Here","place":{"id":"lake"},"location":null}"#, api)
      #expect(response.status == 201)
      #expect(response.json["title"] == .string("Here") && response.json["place"]["id"] == .string("lake"))
      #expect(try await api.get(try #require(response.headers["location"])).json["status"] == .string("ready"))
    }
  }

  @Test(
    "invalid JSON is refused with the names of its fields",
    arguments: [
      (#"{"author":"ada","title":"Here"}"#, ["kind"]),
      (#"{"kind":"photo","title":"Here","mood":1}"#, ["author", "mood"]),
      (#"{"kind":"photo","author":"ada","title":""}"#, ["caption"]),
      (#"{"kind":"take5","author":"ada"}"#, ["back", "front"]),
      ("[]", ["body"]),
    ])
  func invalidJSON(json: String, named: [String]) async throws {
    try await RunningAPI.with { api in
      let response = try await Self.send(json, api)
      #expect(response.status == 400)
      #expect(Self.fields(response) == named)
    }
  }
}
