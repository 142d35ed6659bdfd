import BoxTesting
import HTTPTesting
import Model
import Testing

@testable import Kit
@testable import Rooms

@Suite("Submissions of photos and images", .tags(.database, .network), .timeLimit(.minutes(60)))
struct PhotoSubmissionTests {
  /// Bytes with the signature of a JPEG; the API checks only the signature.
  static let jpeg: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0] + [UInt8](repeating: 7, count: 100)

  static func form(
    photos: Int = 0, image: Bool = false, post: String = #"{"kind":"photo","author":"ada"}"#
  ) -> MultipartForm {
    var form = MultipartForm()
    for number in 0..<photos {
      form.add("photo", filename: "\(number).jpg", contentType: "image/jpeg", jpeg + [UInt8(number)])
    }
    if image { form.add("image", filename: "a.jpg", contentType: "image/jpeg", jpeg) }
    form.add("post", contentType: "application/json", Array(post.utf8))
    return form
  }

  @Test("up to ten photos are accepted, and the eleventh is named in the errors", arguments: [1, 10, 11])
  func photos(count: Int) async throws {
    try await RunningAPI.with { api in
      let response = try await api.submit(Self.form(photos: count))
      #expect(response.status == (count > 10 ? 400 : 202), "\(count)")
      #expect(try await api.storedCount() == (count > 10 ? 0 : 1 + 2 * count))
    }
  }

  @Test("a post without media needs text, is ready at once, and has no job", arguments: ["photo", "marker"])
  func text(kind: String) async throws {
    try await RunningAPI.with { api in
      let response = try await api.submit(Self.form(post: #"{"kind":"\#(kind)","author":"ada","title":"Here"}"#))
      #expect(response.status == 201)
      #expect(response.json["status"] == .string("ready"))
      #expect(response.json["job"] == .null)
      let empty = try await api.submit(Self.form(post: #"{"kind":"\#(kind)","author":"ada","title":""}"#))
      #expect(empty.status == 400)
      #expect(try await api.storedCount() == 1)
    }
  }

  @Test("parts of another kind of post are named in the errors")
  func foreignParts() async throws {
    try await RunningAPI.with { api in
      for (form, part) in [
        (Self.form(image: true), "image"),
        (Self.form(photos: 1, post: #"{"kind":"marker","author":"ada"}"#), "photo"),
        (Self.form(photos: 1, post: #"{"author":"ada"}"#), "back"),
      ] {
        let response = try await api.submit(form)
        #expect(response.status == 400)
        #expect(response.json["errors"][0]["field"] == .string(part))
      }
      #expect(try await api.submit(Self.form(image: true, post: #"{"kind":"marker","author":"a"}"#)).status == 202)
    }
  }

  @Test("a marker has an image or a video, and a video is checked as a clip")
  func markerVideo() async throws {
    try await RunningAPI.with { api in
      let marker = #"{"kind":"marker","author":"ada"}"#
      var both = Self.form(image: true, post: marker)
      both.add("video", filename: "a.mov", contentType: "video/quicktime", boxedClip(seed: 1))
      let refused = try await api.submit(both)
      #expect(refused.status == 400)
      #expect(refused.json["errors"][0]["field"] == .string("video"))
      var broken = Self.form(post: marker)
      broken.add("video", filename: "a.mov", contentType: "video/quicktime", Self.jpeg)
      let response = try await api.submit(broken)
      #expect(response.status == 422)
      #expect(response.json["reasons"][0]["input"] == .string("clip"))
      #expect(try await api.storedCount() == 0)
      var valid = Self.form(post: marker)
      valid.add("video", filename: "a.mov", contentType: "video/quicktime", boxedClip(seed: 1))
      #expect(try await api.submit(valid).status == 202)
      var foreign = Self.form(photos: 1)
      foreign.add("video", filename: "a.mov", contentType: "video/quicktime", boxedClip(seed: 1))
      #expect(try await api.submit(foreign).json["errors"][0]["field"] == .string("video"))
    }
  }

  @Test("a file that is not a photo is rejected with its index, and nothing is stored")
  func noPhoto() async throws {
    try await RunningAPI.with { api in
      var form = Self.form(photos: 1)
      form.add("photo", filename: "b.jpg", contentType: "image/jpeg", Array("GIF89a".utf8))
      let response = try await api.submit(form)
      #expect(response.status == 422)
      #expect(response.json["reasons"][0]["code"] == .string("unsupported_container"))
      #expect(response.json["reasons"][0]["photo"] == .number(1))
      #expect(try await api.storedCount() == 0)
    }
  }

  @Test("images are sent as the body or as a part, and reactions need their author and their post")
  func images() async throws {
    try await RunningAPI.with { api in
      let raw = try await request(
        "PUT", "/v1/users/ada/profile-image", port: api.port, headers: [("Content-Type", "image/jpeg")],
        body: Self.jpeg)
      #expect(raw.status == 202)
      let id = try #require(raw.json["id"].text)
      #expect(raw.headers["location"] == "/v1/images/\(id)")
      #expect(try await api.get("/v1/images/\(id)").json["status"] == .string("processing"))
      #expect(try await api.get("/v1/users/ada/profile-image").status == 404)

      var form = MultipartForm()
      form.add("image", filename: "a.jpg", contentType: "image/jpeg", Self.jpeg)
      let send = { (method: String, path: String, form: MultipartForm) in
        try await request(
          method, path, port: api.port, headers: [("Content-Type", form.contentType)], body: form.bytes)
      }
      #expect(try await send("PUT", "/v1/itineraries/i1/thumbnail", form).status == 202)
      #expect(try await send("POST", "/v1/places/p1/photos", form).status == 202)
      let post = try await api.submit(Self.form(post: #"{"kind":"photo","author":"ada","caption":"x"}"#))
      let path = "/v1/posts/\(try #require(post.json["id"].text))/reactions"
      #expect(try await send("POST", path, form).status == 400)
      form.add("author", Array("bob".utf8))
      #expect(try await send("POST", path, form).status == 202)
      #expect(try await send("POST", "/v1/posts/\(PublicID.now())/reactions", form).status == 404)
      #expect(try await send("POST", "/v1/posts/nonsense/reactions", form).status == 404)
      #expect(
        try await request("PUT", "/v1/users/ada/profile-image", port: api.port, headers: [], body: []).status == 400)
    }
  }
}
