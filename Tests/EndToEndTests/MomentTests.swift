import AV
import Glibc
import HTTPClient
import MediaFixtures
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing

@Suite("A moment over HTTP", .tags(.process))
struct MomentTests {
  /// The inset of the built-in definition.
  static let inset = Rectangle(x: 36, y: 36, width: 324, height: 576)

  @Test(
    "a composition has the colours, the frame counters and the audio of the right clips",
    arguments: [Camera.front, .back])
  func markedPair(foreground: Camera) async throws {
    let service = try await Service(shipped: true)
    let front = try Clips.write(Clips.front, "front.mp4", in: service.folder)
    let back = try Clips.write(Clips.back, "back.mp4", in: service.folder)
    let run = try await service.submitAndWait(front: front, back: back, foreground: foreground)
    #expect(run.status == 0, "\(run.errors)\n\(service.process.log)")
    let post = try await post(of: run, service)
    #expect(post.status == .ready)
    #expect(post.foreground == foreground)
    #expect(post.author == "me")
    #expect(
      Set(post.assets.keys) == [
        .composed, .composedSmall, .clipFront, .clipBack, .poster, .image, .thumbnailFront, .thumbnailBack, .preview,
      ])

    let (inside, outside): (MarkColor, MarkColor) = foreground == .front ? (.red, .blue) : (.blue, .red)
    let composed = try await clip(.composed, of: post, service)
    var numbers: [Int] = []
    try composed.forEachFrame { frame, seconds in
      let marks = ComposedFrame(frame, inset: Self.inset)
      #expect(marks.insideColors == [inside], "at \(seconds) s")
      #expect(marks.outsideColors == [outside], "at \(seconds) s")
      let (first, second) = (try #require(marks.inset), try #require(marks.background))
      #expect(abs(first - second) <= 1, "at \(seconds) s")
      numbers.append(first)
    }
    #expect(numbers.count == 150)
    #expect(Set(numbers).count > 140, "the inset does not advance")
    let audio = try #require(try composed.audio())
    let (present, absent): (Double, Double) = foreground == .front ? (440, 1000) : (1000, 440)
    #expect(audio.strength(of: present) > 0.2)
    #expect(audio.strength(of: absent) < 0.02)

    // The image is of the back camera, whatever the foreground; each thumbnail is of its own camera.
    #expect(try await still(.image, of: post, service).color(atX: 0.5, y: 0.25) == .blue)
    #expect(try await still(.thumbnailFront, of: post, service).color(atX: 0.5, y: 0.25) == .red)
    #expect(try await still(.thumbnailBack, of: post, service).color(atX: 0.5, y: 0.25) == .blue)
    #expect(post.assets[.image]?.thumbhash != nil)
    try await service.stop()
  }

  @Test(
    "every viewer of a moment gets the offset between its clips, so that a player that exchanges them stays in step")
  func offset() async throws {
    let service = try await Service()
    let api = try service.api()
    let clips = try ["front", "back"].map { name in
      (name, try Descriptor(reading: InspectTests.path("samples/\(name).mp4")).contents())
    }
    let post = try await api.submit(
      "/v1/posts", [("post", Array(#"{"author":"ada","visibility":"public"}"#.utf8))] + clips)
    #expect(post["status"]?.text == "ready")
    let id = try #require(post["id"]?.text)
    for viewer in [api, try await api.phone(of: "ada"), try await api.phone(of: "bob")] {
      // The back clip of the samples starts 180 ms later.
      let seen = try await viewer.get("/v1/posts/\(id)")
      guard case .number(let seconds)? = seen["offset_seconds"] else {
        Issue.record("\(viewer.user ?? "a back-end") gets no offset")
        return
      }
      #expect(abs(seconds - 0.18) < 0.002)
      let listed = try await viewer.get("/v1/posts?author=ada")
      #expect(listed["items", 0, "id"]?.text == id && listed["items", 0, "offset_seconds"] == seen["offset_seconds"])
    }
    try await service.stop()
  }

  private func post(of run: Take5Command, _ service: Service) async throws -> PostResponse {
    struct Submitted: Decodable {
      let id: PublicID
    }
    return try await service.post(try JSON.decode(Submitted.self, from: Array(run.output.utf8)).id)
  }

  private func clip(_ role: Role, of post: PostResponse, _ service: Service) async throws -> DecodedClip {
    let asset = try #require(post.assets[role])
    return try DecodedClip(TemporaryFile.make(await service.get(asset.url).body))
  }

  private func still(_ role: Role, of post: PostResponse, _ service: Service) async throws -> StillImage {
    let asset = try #require(post.assets[role])
    return try StillImage(await service.get(asset.url).body)
  }
}
