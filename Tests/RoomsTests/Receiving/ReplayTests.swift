import BoxTesting
import HTTPTesting
import Model
import Platform
import Testing

@testable import Kit
@testable import Rooms

@Suite("Repetitions that need no body", .tags(.database, .network), .timeLimit(.minutes(60)))
struct ReplayTests {
  private static func head(_ form: MultipartForm, key: String, length: Int? = nil, digest: (String, String)?) -> String
  {
    "POST /v1/posts HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: \(key)\r\nContent-Type: \(form.contentType)\r\n"
      + (digest.map { "\($0): \($1)\r\n" } ?? "")
      + "Expect: 100-continue\r\nContent-Length: \(length ?? form.bytes.count)\r\n\r\n"
  }

  /// The first line of the response to a head, whose body is not sent.
  private static func response(to head: String, _ api: RunningAPI) async throws -> String {
    try await onThread("client") {
      var connection = try ClientConnection(port: api.port)
      try connection.send(head)
      return try connection.receiveHead()
    }
  }

  @Test(
    "a repeated submission with a digest gets the stored response before its body is sent; another length, key or digest does not",
    arguments: ["Content-Digest", "Repr-Digest"])
  func beforeTheBody(name: String) async throws {
    let digest = (name, "sha-256=:RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o=:")
    try await RunningAPI.with { api in
      // A form that is longer than one without media.
      let form = MultipartForm.moment(back: boxedClip(bytes: 200_000, seed: 2))
      let first = try await api.submit(form, headers: [("Idempotency-Key", "one"), digest])
      #expect(first.status == 202)
      // Not 100: the service does not ask for the body.
      let again = try await Self.response(to: Self.head(form, key: "one", digest: digest), api)
      #expect(again.hasPrefix("HTTP/1.1 202") && again.contains("Idempotency-Replayed: true"))
      for (key, length, digest) in [
        ("two", form.bytes.count, digest), ("one", form.bytes.count + 1, digest),
        ("one", form.bytes.count, (name, "sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:")),
      ] {
        let head = try await Self.response(to: Self.head(form, key: key, length: length, digest: digest), api)
        #expect(head.hasPrefix("HTTP/1.1 100"), "\(key), \(length)")
      }
    }
  }

  @Test("without a digest in both requests the body is read, and another content of the same length is refused")
  func withoutDigest() async throws {
    try await RunningAPI.with { api in
      let (form, other) = (
        MultipartForm.moment(back: boxedClip(bytes: 200_000, seed: 2)),
        MultipartForm.moment(back: boxedClip(bytes: 200_000, seed: 3))
      )
      #expect(form.bytes.count == other.bytes.count)
      let key = [("Idempotency-Key", "one")]
      let first = try await api.submit(form, headers: key)
      #expect(first.status == 202)
      for digest in [nil, ("Content-Digest", "sha-256=:RBNvo1WzZ4oRRq0W9+hknpT7T8If536DEMBg9hyq/4o=:")] {
        let head = try await Self.response(to: Self.head(form, key: "one", digest: digest), api)
        #expect(head.hasPrefix("HTTP/1.1 100"))
      }
      let again = try await api.submit(form, headers: key)
      #expect(again.status == 202 && again.headers["idempotency-replayed"] == "true")
      let refused = try await api.submit(other, headers: key)
      #expect(refused.status == 422 && UserClient.kind(refused) == "idempotency_key_reused")
    }
  }
}
