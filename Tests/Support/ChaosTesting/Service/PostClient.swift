import HTTPTesting
import MediaFixtures
import Model
import Platform

/// An app that submits: it repeats each submission under the same key until it is answered.
struct PostClient: Sendable {
  private struct Answer: Decodable {
    let id: PublicID
  }

  /// Where the service is now; nil while it is away.
  let port: @Sendable () -> UInt16?

  /// The clips of all moments.
  private static let clips = Result {
    try [(MarkColor.red, 440.0), (.blue, 1000)].map { color, tone in
      try TemporaryFile.bytes(
        of: MarkedClip(color, width: 144, height: 256, framesPerSecond: 15, tone: .init(tone)).write())
    }
  }

  /// Submits a post of one photo, and in twenty one moment, whatever it takes; the id that it is known by, or what is wrong
  /// with the answer.
  func submit(_ number: Int) async throws -> PublicID {
    var form = MultipartForm()
    guard number % 20 != 0 else {
      let clips = try Self.clips.get()
      form.add("post", filename: nil, Array(#"{"author":"author-\#(number % 10)"}"#.utf8))
      form.add("front", filename: "front.mp4", clips[0])
      form.add("back", filename: "back.mp4", clips[1])
      return try await submit(form, to: "/v1/posts", key: "post-\(number)")
    }
    let image = PhotoFixture.image(width: 240, height: 180) { x, y in
      (UInt8(truncatingIfNeeded: x &+ number * 3), UInt8(truncatingIfNeeded: y), UInt8(truncatingIfNeeded: number))
    }
    form.add("post", filename: nil, Array(#"{"kind":"photo","author":"author-\#(number % 10)"}"#.utf8))
    form.add("photo", filename: "photo.jpg", try PhotoFixture.jpeg(image))
    return try await submit(form, to: "/v1/posts", key: "post-\(number)")
  }

  /// Submits a form under a key, whatever it takes; the id that it is known by, or what is wrong with the answer.
  func submit(_ form: MultipartForm, to path: String, key: String) async throws -> PublicID {
    let headers = [("Content-Type", form.contentType), ("Idempotency-Key", "\"\(key)\"")]
    while !Task.isCancelled {
      if let port = port(),
        let answer = try? await request("POST", path, port: port, headers: headers, body: form.bytes)
      {
        switch answer.status {
        case 200, 202: return try JSON.decode(Answer.self, from: answer.body).id
        // It is still at work on the first, or something it needs is away.
        case 409, 500..., 408, 429: break
        default: throw ServiceFailure("a submission was answered with \(answer.status): \(answer.text.prefix(300))")
        }
      }
      try await Task.sleep(for: .milliseconds(50))
    }
    throw CancellationError()
  }
}

/// What a service did that it must not.
struct ServiceFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
