import HTTPTesting
import MediaFixtures
import Model
import Platform
import WaitTesting

/// A client that repeats each submission with the same idempotency key until it is acknowledged.
struct PostClient: Sendable {
  private struct Reply: Decodable {
    let id: PublicID
  }

  /// The port of a service that is restarted.
  let port: UInt16

  /// The clips of all moments.
  private static let clips = Result {
    try [(MarkColor.red, 440.0), (.blue, 1000)].map { color, tone in
      try TemporaryFile.bytes(
        of: MarkedClip(color, width: 144, height: 256, framesPerSecond: 15, tone: .init(tone)).write())
    }
  }

  /// Chooses a port.
  init() throws { port = try Proxy.unusedPort() }

  /// Waits until the service responds for the first time.
  func waitForService() async throws {
    let deadline = Deadline("a service that responds")
    while (try? await request("GET", "/", port: port)) == nil {
      try deadline.check()
      try await Task.sleep(for: .milliseconds(20))
    }
  }

  /// Submits at least `posts` posts from several clients, and continues until `end`.
  func submit(_ posts: Int, clients: Int, until end: CancellationFlag) async throws -> [Int: PublicID] {
    try await withThrowingTaskGroup(of: [(Int, PublicID)].self) { group in
      for first in 0..<clients {
        group.addTask {
          var ids: [(Int, PublicID)] = []
          var number = first
          let deadline = Deadline("the end of the storm", within: .seconds(3600))
          while number < posts || !end.isCancelled {
            try deadline.check()
            ids.append((number, try await submit(number)))
            number += clients
            try await Task.sleep(for: .milliseconds(100))
          }
          return ids
        }
      }
      return try await group.reduce(into: [:]) { all, some in for (number, id) in some { all[number] = id } }
    }
  }

  /// Submits a photo, or for every twentieth number a moment, until it is acknowledged, and returns its id.
  private func submit(_ number: Int) async throws -> PublicID {
    var form = MultipartForm()
    if number % 20 == 0 {
      let clips = try Self.clips.get()
      form.add("post", filename: nil, Array(#"{"author":"author-\#(number % 10)"}"#.utf8))
      form.add("front", filename: "front.mp4", clips[0])
      form.add("back", filename: "back.mp4", clips[1])
    } else {
      let image = PhotoFixture.image(width: 240, height: 180) { x, y in
        (UInt8(truncatingIfNeeded: x &+ number * 3), UInt8(truncatingIfNeeded: y), UInt8(truncatingIfNeeded: number))
      }
      form.add("post", filename: nil, Array(#"{"kind":"photo","author":"author-\#(number % 10)"}"#.utf8))
      form.add("photo", filename: "photo.jpg", try PhotoFixture.jpeg(image))
    }
    return try await submit(form, to: "/v1/posts", key: "post-\(number)")
  }

  /// Submits a form with an idempotency key until it is acknowledged, and returns the id of its post or image.
  func submit(_ form: MultipartForm, to path: String, key: String) async throws -> PublicID {
    let headers = [("Content-Type", form.contentType), ("Idempotency-Key", "\"\(key)\"")]
    // The first submission is still being processed, or a dependency is not available.
    let response = try await respond("POST", path, headers: headers, body: form.bytes) { status in
      [408, 409, 429].contains(status) || status >= 500
    }
    guard [200, 202].contains(response.status) else {
      throw ServiceFailure("the response to a submission was \(response.status): \(response.text.prefix(300))")
    }
    return try JSON.decode(Reply.self, from: response.body).id
  }

  /// Repeats a request until it has a response that is not a temporary problem.
  func respond(
    _ method: String, _ path: String, headers: [(String, String)] = [], body: [UInt8]? = nil,
    unless isTemporary: (Int) -> Bool = { [408, 429, 503].contains($0) }
  ) async throws -> ClientResponse {
    let deadline = Deadline("a response", within: .seconds(3600))
    while true {
      try deadline.check()
      try Task.checkCancellation()
      if let response = try? await request(method, path, port: port, headers: headers, body: body),
        !isTemporary(response.status)
      {
        return response
      }
      try await Task.sleep(for: .milliseconds(50))
    }
  }

  /// Repeats all submissions, and returns those whose response has another id than before.
  func violations(ofRepeating ids: [Int: PublicID]) async throws -> [String] {
    var violations: [String] = []
    for (number, id) in ids {
      let second = try await submit(number)
      if second != id { violations.append("submission \(number) has the ids \(id) and \(second)") }
    }
    return violations
  }
}

/// An invalid reaction of a service.
struct ServiceFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
