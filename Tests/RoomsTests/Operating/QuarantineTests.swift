import BoxTesting
import Crypto
import HTTPTesting
import Model
import Postgres
import Testing

@testable import Kit
@testable import Rooms

@Suite("Submissions of quarantined media", .tags(.database, .network), .timeLimit(.minutes(60)))
struct QuarantineTests {
  /// Quarantines inputs by their hash.
  private func quarantine(_ hash: SHA256Digest, _ api: RunningAPI) async throws {
    try await api.pool.run { session in
      _ = try session.execute(
        "INSERT INTO media_crash (inputs, crashes, last_error, quarantined_at) VALUES ($1, 2, '', now())",
        .bytes(hash.bytes))
    }
  }

  @Test("a quarantined photo is refused in a post and as an image, the reason names it, and nothing is stored")
  func photo() async throws {
    try await RunningAPI.with { api in
      try await quarantine(SHA256.digest(of: PhotoSubmissionTests.jpeg + [1]), api)
      let response = try await api.submit(PhotoSubmissionTests.form(photos: 3))
      #expect(response.status == 422)
      #expect(response.json["type"] == .string("urn:take5:problem:media_rejected"))
      #expect(response.json["reasons"].elements.count == 1)
      #expect(response.json["reasons"][0]["code"] == .string("quarantined"))
      #expect(response.json["reasons"][0]["input"] == .string("photo"))
      #expect(response.json["reasons"][0]["photo"] == .number(1))
      let image = try await request(
        "PUT", "/v1/users/ada/profile-image", port: api.port, headers: [("Content-Type", "image/jpeg")],
        body: PhotoSubmissionTests.jpeg + [1])
      #expect(image.status == 422 && image.json["reasons"][0]["code"] == .string("quarantined"))
      #expect(try await api.storedCount() == 0)
      #expect(try await api.submit(PhotoSubmissionTests.form(photos: 1)).status == 202)
    }
  }

  @Test("a quarantined pair of clips is refused, and after its release the same request with its key is accepted")
  func moment() async throws {
    try await RunningAPI.with { api in
      let clips = [boxedClip(seed: 1), boxedClip(seed: 2)].map { SHA256.digest(of: $0) }
      try await quarantine(SHA256.digest(of: clips.flatMap(\.bytes)), api)
      let key = [("Idempotency-Key", "again")]
      let refused = try await api.submit(.moment(), headers: key)
      #expect(refused.status == 422 && refused.json["reasons"][0]["code"] == .string("quarantined"))
      #expect(refused.json["reasons"][0]["input"] == .null)
      #expect(try await api.storedCount() == 0)
      try await api.pool.run { _ = try $0.execute("DELETE FROM media_crash") }
      #expect(try await api.submit(.moment(), headers: key).status == 202)
      // The reply is stored: a repetition does not look at the quarantine.
      try await quarantine(clips[0], api)
      #expect(try await api.submit(.moment(), headers: key).status == 202)
      let part = try await api.submit(.moment())
      #expect(part.status == 422 && part.json["reasons"][0]["input"] == .string("front"))
    }
  }
}
