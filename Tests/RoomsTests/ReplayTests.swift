import BoxTesting
import HTTPTesting
import Model
import Platform
import Testing

@testable import Rooms

@Suite("Repetitions that need no body", .tags(.database, .network), .timeLimit(.minutes(60)))
struct ReplayTests {
  private static func head(_ form: MultipartForm, key: String, length: Int? = nil) -> String {
    "POST /v1/posts HTTP/1.1\r\nHost: localhost\r\nIdempotency-Key: \(key)\r\nContent-Type: \(form.contentType)\r\n"
      + "Expect: 100-continue\r\nContent-Length: \(length ?? form.bytes.count)\r\n\r\n"
  }

  @Test("a repeated submission gets the stored response before its body is sent; another length or key does not")
  func beforeTheBody() async throws {
    try await RunningAPI.with { api in
      // A form that is longer than one without media.
      let form = MultipartForm.moment(back: boxedClip(bytes: 200_000, seed: 2))
      let first = try await api.submit(form, headers: [("Idempotency-Key", "one")])
      #expect(first.status == 202)
      let again = try await onThread("client") {
        var connection = try ClientConnection(port: api.port)
        try connection.send(Self.head(form, key: "one"))
        // Not 100: the service does not ask for the body.
        return try connection.receiveHead()
      }
      #expect(again.hasPrefix("HTTP/1.1 202") && again.contains("Idempotency-Replayed: true"))
      for (key, length) in [("two", form.bytes.count), ("one", form.bytes.count + 1)] {
        let head = try await onThread("client") {
          var connection = try ClientConnection(port: api.port)
          try connection.send(Self.head(form, key: key, length: length))
          return try connection.receiveHead()
        }
        #expect(head.hasPrefix("HTTP/1.1 100"), "\(key), \(length)")
      }
    }
  }
}
