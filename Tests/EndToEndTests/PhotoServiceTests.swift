import HTTPClient
import MediaFixtures
import Model
import Platform
import PostgresTesting
import Stills
import Take5Testing
import Testing

@Suite("Photos over HTTP", .tags(.process))
struct PhotoServiceTests {
  /// The fields of a post or an image that tests read.
  struct Media: Decodable {
    struct Asset: Decodable {
      let url: String
      let width: Int?
      let height: Int?
      let color: String?
    }

    let id: String
    let status: String
    let job: PostResponse.Job?
    let reasons: [Reason]
    let assets: [Role: Asset]?
    let photos: [[Role: Asset]]?
  }

  private static func write(_ image: RGBImage, _ name: String, in service: Service, orientation: Int = 1) throws
    -> String
  {
    let path = "\(service.folder.path)/\(name)"
    try Descriptor(writing: path, replacing: true).write(
      try PhotoFixture.jpeg(image, exif: PhotoFixture.exif(orientation: orientation, hasPosition: true)))
    return path
  }

  /// Waits for a published post and reads a resource.
  private static func finished(_ path: String, _ service: Service) async throws -> Media {
    _ = await service.process.waitForLog("post published")
    let client = service.client
    let response = try await onThread("test-client") { try client.get(path) }
    return try JSON.decode(Media.self, from: response.body)
  }

  @Test("the photos of a post are made upright and in order")
  func post() async throws {
    let service = try await Service()
    let quarters = PhotoFixture.quarters(width: 400, height: 300)
    let turned = try Self.write(quarters, "a.jpg", in: service, orientation: 6)
    let plain = try Self.write(quarters, "b.jpg", in: service)
    let response = try await service.send(
      "/v1/posts",
      [
        ("photo", try Service.bytes(of: turned)), ("photo", try Service.bytes(of: plain)),
        ("post", Array(#"{"kind":"photo","author":"ada"}"#.utf8)),
      ])
    #expect(response.status == 202)
    let submitted = try JSON.decode(Media.self, from: response.body)
    let post = try await Self.finished("/v1/posts/\(submitted.id)", service)
    #expect(post.status == "ready")
    let photos = try #require(post.photos)
    #expect(photos.map { $0[.photoLarge]?.width } == [300, 400])
    let client = service.client
    let url = try #require(photos[0][.photoLarge]?.url)
    let bytes = try await onThread("test-client") { try client.get(url) }.body
    let decoded = try JPEGDecoder.decode(bytes, limits: JPEGLimits(pixels: 1 << 20))
    #expect(decoded.width == 300 && decoded.height == 400)
    // After the rotation, the top left part is blue.
    let corner = Array(decoded.bytes[3 * (50 * 300 + 50)..<3 * (50 * 300 + 50) + 3])
    #expect(corner[2] > 180 && corner[0] < 60)
    #expect(try await service.stop() == 0)
  }

  @Test("the video of a marker is made playable and upright, with its stills")
  func markerVideo() async throws {
    let service = try await Service()
    let marked = MarkedClip(
      .green, width: 360, height: 640, seconds: 2, framesPerSecond: 120, codec: .hevc, tone: .init(700),
      rotation: .quarter)
    let path = try Clips.write(marked, "a.mov", in: service.folder)
    let response = try await service.send(
      "/v1/posts",
      [("video", try Service.bytes(of: path)), ("post", Array(#"{"kind":"marker","author":"ada"}"#.utf8))])
    #expect(response.status == 202)
    let submitted = try JSON.decode(Media.self, from: response.body)
    let post = try await Self.finished("/v1/posts/\(submitted.id)", service)
    #expect(post.status == "ready", "\(post.reasons)")
    #expect(post.photos == nil || post.photos?.isEmpty == true)
    #expect(Set((post.assets ?? [:]).keys) == [.clip, .poster, .thumbnail, .preview])
    let client = service.client
    let url = try #require(post.assets?[.clip]?.url)
    let clip = try DecodedClip(TemporaryFile.make(try await onThread("test-client") { try client.get(url) }.body))
    var frames = 0
    try clip.forEachFrame { frame, _ in
      #expect(ComposedFrame(frame, inset: Rectangle(x: 8, y: 8, width: 344, height: 624)).insideColors == [.green])
      frames += 1
    }
    #expect(frames == 120, "two seconds at 60 frames per second")
    #expect(try #require(try clip.audio()).strength(of: 700) > 0.2)
    #expect(post.assets?[.thumbnail]?.height == 360)
    #expect(try await service.stop() == 0)
  }

  @Test("a profile image stays until the next one is accepted")
  func profile() async throws {
    let service = try await Service()
    let client = service.client
    for color in [(220, 30, 30), (30, 30, 220)] as [(UInt8, UInt8, UInt8)] {
      let path = try Self.write(PhotoFixture.image(width: 600, height: 300) { _, _ in color }, "me.jpg", in: service)
      let response = try await Self.put(path, service)
      #expect(response.status == 202)
      let image = try JSON.decode(Media.self, from: response.body)
      #expect(await service.process.waitForLog("image=\(image.id)"))
      let shown = try await onThread("test-client") { try client.get("/v1/users/ada/profile-image") }
      #expect(shown.status == 200)
      let current = try JSON.decode(Media.self, from: shown.body)
      #expect(current.id == image.id)
      let url = try #require(current.assets?[.avatar]?.url)
      let media = try await onThread("test-client") { try client.get(url) }
      let decoded = try JPEGDecoder.decode(media.body, limits: JPEGLimits(pixels: 1 << 20))
      #expect(decoded.width == 300 && decoded.height == 300)
      #expect(abs(Int(decoded.bytes[0]) - Int(color.0)) < 8 && abs(Int(decoded.bytes[2]) - Int(color.2)) < 8)
    }
    // A worker rejects a file with the signature but not the content of a JPEG; the image stays.
    let broken = "\(service.folder.path)/broken.jpg"
    try Descriptor(writing: broken, replacing: true).write([0xFF, 0xD8, 0xFF] + [UInt8](repeating: 1, count: 500))
    let response = try await Self.put(broken, service)
    let image = try JSON.decode(Media.self, from: response.body)
    #expect(await service.process.waitForLog("image=\(image.id)"))
    let refused = try await onThread("test-client") { try client.get("/v1/images/\(image.id)") }
    #expect(try JSON.decode(Media.self, from: refused.body).status == "rejected")
    #expect(try await onThread("test-client") { try client.get("/v1/users/ada/profile-image") }.status == 200)
    // The outputs of the current image, and the source of the rejected one.
    #expect(try await service.count("SELECT count(*)::int FROM asset") == 3)
    #expect(try await service.stop() == 0)
  }

  private static func put(_ file: String, _ service: Service) async throws -> HTTPResponse {
    try await service.send("/v1/users/ada/profile-image", [("image", try Service.bytes(of: file))], method: "PUT")
  }
}
