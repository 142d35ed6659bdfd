import BoxTesting
import Crypto
import FoundationEssentials
import Glibc
import HTTPTesting
import Model
import Platform
import PostgresTesting
import Testing
import WaitTesting

@testable import Blobs
@testable import Kit
@testable import Rooms

@Suite("Submissions before their uploads are whole", .tags(.database, .network), .timeLimit(.minutes(60)))
struct AwaitedUploadTests {
  @Test("a request that waits for a post waits for its uploads, and then for its job")
  func waiting() async throws {
    try await RunningAPI.with { api in
      let early = try await EarlySubmission(api)
      let post = try #require(early.response.headers["location"])
      async let waiting = api.get("\(post)?wait=50")
      try await until { api.submissions.waits.count == 1 }
      try await early.send(api)
      try await until { try await api.mediaJobs() == 1 }
      try await WaitingTests.end(api)
      #expect(try await waiting.json["status"] == .string("ready"))
    }
  }

  @Test("a post that is stored is accepted, although an upload cannot say that it is awaited, and is processed later")
  func unregistered() async throws {
    try await RunningAPI.with { api in
      let clips = EarlySubmission.clips
      let paths = try await EarlySubmission.uploads(of: clips, api)
      // The record of the second one cannot be written.
      #expect(mkdir("\(api.blobFolder)/uploads/\(EarlySubmission.id(paths[1])).draft", 0o700) == 0)
      let submitted = try await EarlySubmission.submit(paths, api)
      #expect(submitted.status == 202 && submitted.json["status"] == .string("processing"), "\(submitted.text)")
      let post = try #require(submitted.json["id"].text)
      #expect(rmdir("\(api.blobFolder)/uploads/\(EarlySubmission.id(paths[1])).draft") == 0)
      for (clip, path) in zip(clips, paths) {
        #expect(try await UploadTests.send(clip, at: 0, to: path, api).status == 204)
      }
      await api.api.uploads.uploads.reconsiderAll()
      _ = try await api.read(post) { $0["job"] != .null }
      #expect(try await api.mediaJobs() == 1)
    }
  }

  @Test("nothing is queued before the last byte of the last upload, in whatever order the bytes come")
  func lastByte() async throws {
    try await RunningAPI.with { api in
      let early = try await EarlySubmission(api)
      let (clips, paths, submitted) = (early.clips, early.paths, early.response)
      #expect(submitted.status == 202 && submitted.json["status"] == .string("processing"))
      #expect(submitted.json["job"] == .null)
      let post = try early.post
      #expect(try await api.get(paths[0]).json["post"] == .string(post))
      #expect(try await UploadTests.send(clips[1], at: 0, to: paths[1], api).status == 204)
      #expect(try await UploadTests.send(clips[0].dropLast(), at: 0, to: paths[0], api).status == 204)
      #expect(try await api.mediaJobs() == 0)
      #expect(try await api.get("/v1/posts/\(post)").json["job"] == .null)
      // A repetition is the same post.
      let again = try await EarlySubmission.submit(paths, api)
      #expect(again.json["id"] == .string(post) && again.headers["idempotency-replayed"] == "true")
      #expect(try await UploadTests.send(clips[0].suffix(1), at: clips[0].count - 1, to: paths[0], api).status == 204)
      _ = try await api.read(post) { $0["job"] != .null }
      #expect(try await api.mediaJobs() == 1)
      for bytes in clips { #expect(try api.blobs.contains(SHA256.digest(of: bytes))) }
      try await early.expectFinished(api)
      // Also when its uploads are finished.
      #expect(try await EarlySubmission.submit(paths, api).json["id"] == .string(post))
    }
  }

  @Test("a post is rejected with the reasons of its uploads, and nothing of it stays")
  func rejected() async throws {
    try await RunningAPI.with { api in
      let clips = [boxedClip(seed: 1), Array("this is not a clip, whatever the app says".utf8)]
      let early = try await EarlySubmission(api, clips: clips)
      let (paths, post) = (early.paths, try early.post)
      #expect(try await UploadTests.send(clips[0], at: 0, to: paths[0], api).status == 204)
      _ = try await UploadTests.send(clips[1], at: 0, to: paths[1], api)
      let json = try await api.read(post) { $0["status"] != .string("processing") }
      #expect(json["status"] == .string("rejected"))
      #expect(json["reasons"][0]["code"] == .string("unsupported_container"))
      for path in paths { try await api.expectFinished(path) }
      #expect(try await api.mediaJobs() == 0)
      #expect(try !api.blobs.contains(SHA256.digest(of: clips[0])))
    }
  }

  @Test("a post whose uploads expire is rejected")
  func expired() async throws {
    try await RunningAPI.with { api in
      let early = try await EarlySubmission(api)
      let post = try early.post
      let upload = try #require(PublicID(EarlySubmission.id(early.paths[1])))
      // What the sweeper does once they have expired.
      try api.blobs.uploads().remove(upload)
      api.awaitingPosts.reconsider(try #require(PublicID(post)))
      let json = try await api.read(post) { $0["status"] != .string("processing") }
      #expect(json["reasons"][0]["code"] == .string("upload_expired"))
    }
  }

  @Test("one post awaits an upload, and a post that is deleted awaits none")
  func once() async throws {
    try await RunningAPI.with { api in
      let early = try await EarlySubmission(api)
      let second = try await EarlySubmission.submit(early.paths, key: "two", api)
      #expect(second.status == 409 && second.json["type"] == .string("urn:take5:problem:upload_in_use"))
      #expect(try await request("DELETE", "/v1/posts/\(try early.post)", port: api.port).status == 204)
      #expect(try await EarlySubmission.submit(early.paths, key: "three", api).status == 202)
    }
  }

  @Test("what is wrong with a submission shows before any byte of its uploads is sent")
  func early() async throws {
    var setting = RunningAPI.Setting()
    setting.clipBytes = 1000
    try await RunningAPI.with(setting) { api in
      let small = try await EarlySubmission.create([1, 2, 3], api)
      let large = try await EarlySubmission.create([UInt8](repeating: 0, count: 1001), api)
      let tooLarge = try await EarlySubmission.submit([small, large], api)
      #expect(tooLarge.status == 413 && tooLarge.json["type"] == .string("urn:take5:problem:part_too_large"))
      let json = [("Content-Type", "application/json")]
      for (body, type) in [
        (#"{"kind":"take5","author":"ada","front":{"upload":"ID"}}"#, "missing_part"),
        (#"{"kind":"take5","author":"ada","photo":{"upload":"ID"}}"#, "missing_part"),
        (#"{"kind":"photo","author":"ada","photo":{"upload":"ID"},"caption":7}"#, "invalid_fields"),
      ] {
        let response = try await request(
          "POST", "/v1/posts", port: api.port, headers: json,
          body: Array(body.replacing("ID", with: EarlySubmission.id(small)).utf8))
        #expect(response.status == 400 && response.json["type"] == .string("urn:take5:problem:\(type)"))
      }
    }
  }

  @Test("an upload whose bytes have another digest is refused for good, and so is a post that awaits it")
  func digest() async throws {
    try await RunningAPI.with { api in
      let clips = EarlySubmission.clips
      let digest = { (bytes: [UInt8]) in
        ("Repr-Digest", "sha-512=:AAAA:, sha-256=:\(base64(SHA256.digest(of: bytes).bytes)):")
      }
      let paths = [
        try await EarlySubmission.create(clips[0], api, headers: [digest(clips[0])]),
        try await EarlySubmission.create(clips[1], api, headers: [digest(clips[0])]),
      ]
      let post = try #require(try await EarlySubmission.submit(paths, api).json["id"].text)
      #expect(try await UploadTests.send(clips[0], at: 0, to: paths[0], api).status == 204)
      let head = try await request("HEAD", paths[0], port: api.port, headers: [("Want-Repr-Digest", "sha-256=1")])
      #expect(head.headers["repr-digest"] == "sha-256=:\(base64(SHA256.digest(of: clips[0]).bytes)):")
      let refused = try await UploadTests.send(clips[1], at: 0, to: paths[1], api)
      #expect(refused.status == 400 && refused.json["type"] == .string("urn:take5:problem:digest_mismatch"))
      let json = try await api.read(post) { $0["status"] != .string("processing") }
      #expect(json["reasons"][0]["code"] == .string("digest_mismatch"))
      let malformed = try await UploadTests.create(
        3, api, headers: UploadTests.tus + [("Repr-Digest", "sha-256=:AAAA:")])
      #expect(malformed.status == 400 && malformed.json["type"] == .string("urn:take5:problem:invalid_upload"))
    }
  }
}

/// Bytes in base64 (RFC 4648, section 4).
private func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
