import HTTPTesting
import MediaFixtures
import Model
import PostgresTesting
import Take5Testing
import Testing
import WaitTesting

@Suite("The first look of a moment", .tags(.process), .timeLimit(.minutes(60)))
struct LookTests {
  @Test("its author sees and plays it before the composition, which then has the same files")
  func look() async throws {
    let service = try await Service(shipped: true)
    let api = try service.api()
    let clips = [("front", Clips.front), ("back", Clips.back)]
    let parts = try clips.map { ($0.0, try TemporaryFile.bytes(of: $0.1.write())) }
    let post = [("post", Array(#"{"author":"ada","visibility":"public"}"#.utf8))]
    let form = API.form(post + parts)
    let submitted = try await API.Response(
      response: request(
        "POST", "/v1/posts", port: api.port,
        headers: [("Prefer", "wait=50; for=look"), ("Content-Type", form.contentType)], body: form.bytes))
    #expect(submitted.status == 200 && submitted.response.headers["preference-applied"] == "wait=50; for=look")
    // A composition of this size takes many times as long as its look.
    #expect(submitted["status"]?.text == "processing")
    let path = try #require(submitted.response.headers["location"])
    let roles: [Role] = [.clipFront, .clipBack, .image, .thumbnailFront, .thumbnailBack]
    var seen: [Role: [UInt8]] = [:]
    for role in roles {
      let url = try #require(submitted["assets", .key(role.rawValue), "url"]?.text, "\(role.rawValue)")
      let response = try await api.get(url).response
      #expect(response.status == 200)
      seen[role] = response.body
    }
    for (role, tone) in [(Role.clipFront, 440.0), (.clipBack, 1000)] {
      let clip = try DecodedClip(TemporaryFile.make(try #require(seen[role])))
      var frames = 0
      try clip.forEachFrame { _, _ in frames += 1 }
      #expect(frames == 150)
      #expect(try #require(try clip.audio()).strength(of: tone) > 0.2)
    }
    for (role, color) in [(Role.image, MarkColor.blue), (.thumbnailFront, .red), (.thumbnailBack, .blue)] {
      #expect(try StillImage(try #require(seen[role])).color(atX: 0.5, y: 0.25) == color)
    }
    // Others see it when it is composed.
    let bob = try await api.phone(of: "bob")
    let early = try await bob.get(path)
    if early["status"]?.text == "processing" { #expect(early["assets", "image"] == nil) }

    var ready = early
    let deadline = Deadline("the end of the job", within: .seconds(300))
    while ready["status"]?.text == "processing" {
      try deadline.check()
      ready = try await bob.get("\(path)?wait=50")
    }
    #expect(ready["status"]?.text == "ready" && ready["assets", "composed"] != nil)
    for role in roles {
      let url = try #require(ready["assets", .key(role.rawValue), "url"]?.text)
      #expect(try await bob.get(url).response.body == seen[role], "\(role.rawValue)")
      // The URL of the look goes on to be valid.
      let former = try #require(submitted["assets", .key(role.rawValue), "url"]?.text)
      #expect(try await api.get(former).response.body == seen[role])
    }
    let kinds = try await service.texts("SELECT kind FROM user_event WHERE user_id = 'ada' ORDER BY number")
    #expect(kinds == ["post_previewed", "post_ready"])
    #expect(try await service.count("SELECT count(*) FROM job WHERE kind IN ('look', 'post')") == 0)
    try await service.stop()
  }
}
