import BoxTesting
import HTTPTesting
import Model
import Testing

@testable import ControlAPI

@Suite("What is said of a post in a form's fields, and in JSON", .tags(.database, .network), .timeLimit(.minutes(10)))
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

  private static func fields(_ answer: ClientResponse) -> [String] {
    guard case .array(let errors) = answer.json["errors"] else { return ["status \(answer.status)"] }
    return errors.compactMap { $0["field"].text }
  }

  @Test("every field is taken as text, whatever the order of the parts")
  func all() async throws {
    try await RunningAPI.with { api in
      let fields = [
        ("longitude", "-1.5e1"), ("kind", "take5"), ("caption", "Dämmerung"), ("author", "7"), ("title", "Lake"),
        ("visibility", "friends"), ("foreground", "back"), ("captured_at", "2026-11-20T18:30:00+00:00"),
        ("latitude", "52.5163"), ("place", "lake"), ("place_name", "See"), ("place_latitude", "52"),
        ("place_longitude", "13.25"),
      ]
      let answer = try await api.submit(Self.form(fields, media: ["front", "back"]))
      #expect(answer.status == 202)
      let post = answer.json
      #expect(post["kind"] == .string("take5") && post["author"] == .string("7"))
      #expect(post["title"] == .string("Lake") && post["caption"] == .string("Dämmerung"))
      #expect(post["visibility"] == .string("friends") && post["foreground"] == .string("back"))
      #expect(post["captured_at"] == .string("2026-11-20T18:30:00.000Z"))
      #expect(post["location"] == .object(["latitude": .number(52.5163), "longitude": .number(-15)]))
      let center = JSONValue.object(["latitude": .number(52), "longitude": .number(13.25)])
      #expect(post["place"] == .object(["id": .string("lake"), "name": .string("See"), "coordinate": center]))
    }
  }

  @Test(
    "each kind takes its media and needs nothing else",
    arguments: [
      ("take5", ["front", "back"], 202), ("photo", ["photo", "photo"], 202), ("marker", ["image"], 202),
      ("marker", ["video"], 202), ("take5", [], 400), ("photo", [], 400), ("marker", [], 400),
      ("marker", ["image", "video"], 400), ("photo", ["front", "back"], 400),
    ])
  func kinds(kind: String, media: [String], status: Int) async throws {
    try await RunningAPI.with { api in
      let answer = try await api.submit(Self.form([("kind", kind), ("author", "ada")], media: media))
      #expect(answer.status == status)
    }
  }

  /// Fields of a form, and those of them that are to be named.
  private static let wrongFields: [(fields: [String], named: [String])] = [
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

  @Test("a field that is wrong, missing or without what belongs to it is named", arguments: wrongFields.indices)
  func wrong(row: Int) async throws {
    try await RunningAPI.with { api in
      let (fields, named) = Self.wrongFields[row]
      let pairs = fields.map { field in
        let parts = field.split(separator: "=", omittingEmptySubsequences: false)
        return (String(parts[0]), String(parts[1]))
      }
      let answer = try await api.submit(Self.form(pairs, media: ["image"]))
      #expect(answer.status == 400)
      #expect(Self.fields(answer) == named)
      #expect(try await api.remains() == 0)
    }
  }

  @Test("fields that are no text, that are too long together, or that stand beside the part post are refused")
  func refused() async throws {
    try await RunningAPI.with { api in
      var broken = Self.form([("kind", "marker"), ("author", "ada")])
      broken.add("title", [0x4C, 0xFF])
      let wrongText = try await api.submit(broken)
      #expect(Self.fields(wrongText) == ["title"])
      let half = String(repeating: "x", count: 40_000)
      let long = [("kind", "marker"), ("author", "ada"), ("title", half), ("caption", half)]
      let tooLong = try await api.submit(Self.form(long))
      #expect(Self.fields(tooLong) == ["caption"])
      let twice = Self.form([("author", "ada")], media: ["image"], post: #"{"kind":"marker","author":"ada"}"#)
      let both = try await api.submit(twice)
      #expect(Self.fields(both) == ["author"])
      #expect(try await api.remains() == 0)
    }
  }

  @Test("the same fields in another order are the same request, others are not")
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

  @Test("a post of words may be JSON, its place an object")
  func words() async throws {
    try await RunningAPI.with { api in
      let answer = try await Self.send(
        #"{"kind":"marker","author":"ada","title":"Here","place":{"id":"lake"},"location":null}"#, api)
      #expect(answer.status == 201)
      #expect(answer.json["title"] == .string("Here") && answer.json["place"]["id"] == .string("lake"))
      #expect(try await api.get(try #require(answer.headers["location"])).json["status"] == .string("ready"))
    }
  }

  @Test(
    "JSON that cannot be a post is refused by field",
    arguments: [
      (#"{"author":"ada","title":"Here"}"#, ["kind"]),
      (#"{"kind":"photo","title":"Here","mood":1}"#, ["author", "mood"]),
      (#"{"kind":"photo","author":"ada","title":""}"#, ["caption"]),
      (#"{"kind":"take5","author":"ada"}"#, ["back", "front"]),
      ("[]", ["body"]),
    ])
  func wrongJSON(json: String, named: [String]) async throws {
    try await RunningAPI.with { api in
      let answer = try await Self.send(json, api)
      #expect(answer.status == 400)
      #expect(Self.fields(answer) == named)
    }
  }
}
