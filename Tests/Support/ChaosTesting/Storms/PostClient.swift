import HTTPTesting
import MediaFixtures
import Model
import Platform

/// A client that repeats each submission with the same idempotency key until it is acknowledged.
struct PostClient: Sendable {
  private struct Reply: Decodable {
    let id: PublicID
  }

  let port: ServicePort

  /// The clips of all moments.
  private static let clips = Result {
    try [(MarkColor.red, 440.0), (.blue, 1000)].map { color, tone in
      try TemporaryFile.bytes(
        of: MarkedClip(color, width: 144, height: 256, framesPerSecond: 15, tone: .init(tone)).write())
    }
  }

  /// Submits a photo, or for every twentieth number a moment, until it is acknowledged, and returns its id.
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

  /// Submits a form with an idempotency key until it is acknowledged, and returns the id of its post or image.
  func submit(_ form: MultipartForm, to path: String, key: String) async throws -> PublicID {
    let headers = [("Content-Type", form.contentType), ("Idempotency-Key", "\"\(key)\"")]
    while !Task.isCancelled {
      if let port = port.value,
        let response = try? await request("POST", path, port: port, headers: headers, body: form.bytes)
      {
        switch response.status {
        case 200, 202: return try JSON.decode(Reply.self, from: response.body).id
        // The first submission is still being processed, or a dependency is not available.
        case 409, 500..., 408, 429: break
        default:
          throw ServiceFailure("the response to a submission was \(response.status): \(response.text.prefix(300))")
        }
      }
      try await Task.sleep(for: .milliseconds(50))
    }
    throw CancellationError()
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

/// The port of a service that is restarted during a storm.
final class ServicePort: Sendable {
  private let port = Locked<UInt16?>(nil)

  /// The port; nil while the service does not listen.
  var value: UInt16? {
    get { port.withLock { $0 } }
    set { port.withLock { $0 = newValue } }
  }

  /// Reads the port from the first line of a service's output, if the service has written it.
  func read(log: String) {
    guard let bytes = try? Descriptor(reading: log).contents() else { return }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    value = lines.first { $0.hasPrefix("http://") }?.split(separator: ":").last.flatMap { UInt16($0) }
  }

  /// Waits until a service listens, has ended or is stopped; the monitor of its storm handles the latter two.
  func wait(for service: Participant) async throws {
    value = nil
    while service.child.ending == nil {
      read(log: service.log)
      if value != nil || service.child.stops > 0 { return }
      try await Task.sleep(for: .milliseconds(20))
    }
  }
}

/// An invalid reaction of a service.
struct ServiceFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
