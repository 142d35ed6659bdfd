import Foundation
import Take5Client

/// Uses the client that openapi-generator made: submits a moment, waits for it and reads it.
@main
struct SwiftClient {
  static func main() async throws {
    let environment = ProcessInfo.processInfo.environment
    guard let url = environment["TAKE5_URL"], let key = environment["TAKE5_API_KEY"],
      let samples = environment["TAKE5_SAMPLES"]
    else { fatalError("TAKE5_URL, TAKE5_API_KEY and TAKE5_SAMPLES must be set") }
    let service = Take5ClientAPIConfiguration(basePath: url, customHeaders: ["Authorization": "Bearer \(key)"])
    let submitted = try await PostsAPI.submitPost(
      kind: .take5, prefer: "wait=50", author: "grace", caption: "Dämmerung", visibility: .friends, foreground: .back,
      capturedAt: Date(timeIntervalSince1970: 1_795_000_000), latitude: 52.5163, longitude: 13.3777,
      place: "brandenburg-gate", placeName: "Brandenburger Tor",
      front: URL(fileURLWithPath: "\(samples)/front.mp4"), back: URL(fileURLWithPath: "\(samples)/back.mp4"),
      apiConfiguration: service)
    let post = try await PostsAPI.readPost(id: submitted.id, apiConfiguration: service)
    expect(post.status == .ready, "the post is \(post.status)")
    expect(post.kind == .take5 && post.author == "grace" && post.caption == "Dämmerung", "\(post)")
    expect(post.visibility == .friends && post.foreground == .back, "\(post)")
    expect(post.capturedAt == Date(timeIntervalSince1970: 1_795_000_000), "\(post)")
    expect(post.location == Coordinate(latitude: 52.5163, longitude: 13.3777), "\(post)")
    expect(post.place?.id == "brandenburg-gate" && post.place?.name == "Brandenburger Tor", "\(post)")
    expect(post.assets["composed"]?.type == "video/mp4", "\(post.assets.keys)")
    guard let job = post.job else { return expect(false, "the post has no job") }
    let verdict = try await JobsAPI.readJob(id: job.id, apiConfiguration: service).verdict
    expect(verdict?.verdict == .accepted && verdict?.inputs["front"]?.facts.family == .mp4, "\(verdict as Any)")
    // A photo without a location: optional parameters are not sent.
    let photo = try await PostsAPI.submitPost(
      kind: .photo, prefer: "wait=50", author: "grace",
      photo: [URL(fileURLWithPath: environment["TAKE5_PHOTO"] ?? "")], apiConfiguration: service)
    expect(photo.photos.first?["photo.small"] != nil, "\(photo)")
    let near = try await ReadingAPI.listPosts(
      author: ["grace"], box: [13.3, 52.4, 13.5, 52.6], visibility: [.friends], apiConfiguration: service)
    expect(near.items.map(\.id) == [post.id], "\(near)")
    try await Phone.run(
      url, samples: samples, photo: environment["TAKE5_PHOTO"] ?? "", mail: environment["TAKE5_MAIL"] ?? "")
  }

  static func expect(_ condition: Bool, _ what: String) {
    guard !condition else { return }
    FileHandle.standardError.write(Data("unexpected value: \(what)\n".utf8))
    exit(1)
  }
}
