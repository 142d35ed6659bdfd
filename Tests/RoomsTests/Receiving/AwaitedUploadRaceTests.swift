import BlobTesting
import Crypto
import HTTPTesting
import Model
import Platform
import PostgresTesting
import Testing
import WaitTesting

@testable import Blobs
@testable import Kit
@testable import Rooms

@Suite("Requests about an upload that a post gets meanwhile", .tags(.database, .network), .timeLimit(.minutes(60)))
struct AwaitedUploadRaceTests {
  @Test(
    "a client that has not received the last response learns that the upload is finished, and another user does not",
    arguments: UploadDialect.allCases)
  func lastResponseLost(_ dialect: UploadDialect) async throws {
    try await RunningAPI.with { api in
      let clips = EarlySubmission.clips
      let owner = [("Take5-User", "ada")]
      let paths = try await EarlySubmission.uploads(of: clips, api, headers: owner)
      let submitted = try await request(
        "POST", "/v1/posts", port: api.port, headers: owner + [("Content-Type", "application/json")],
        body: Array(
          #"{"kind":"take5","front":{"upload":"\#(EarlySubmission.id(paths[0]))"},"back":{"upload":"\#(EarlySubmission.id(paths[1]))"}}"#
            .utf8))
      let post = try #require(submitted.json["id"].text)
      for (clip, path) in zip(clips, paths) {
        let sent = try await request(
          "PATCH", path, port: api.port,
          headers: owner + UploadTests.tus + [("Upload-Offset", "0"), ("Content-Type", UploadDialect.tusContent)],
          body: clip)
        #expect(sent.status == 204)
      }
      for (clip, path) in zip(clips, paths) {
        let upload = try #require(PublicID(EarlySubmission.id(path)))
        try await until { try api.blobs.uploads().open(upload) == nil }
        let named: [(String, String)]
        let last: [(String, String)]
        switch dialect {
        case .tus: (named, last) = (UploadTests.tus, [("Content-Type", UploadDialect.tusContent)])
        case .draft01:
          (named, last) = ([("Upload-Draft-Interop-Version", "3")], [("Upload-Incomplete", "?0")])
        case .draft: (named, last) = ([], [("Upload-Complete", "?1"), ("Content-Type", UploadDialect.draftContent)])
        }
        let head = try await request("HEAD", path, port: api.port, headers: owner + named)
        #expect(head.status == (dialect == .tus ? 200 : 204))
        #expect(head.headers["upload-offset"] == "\(clip.count)")
        switch dialect {
        case .tus: #expect(head.headers["upload-length"] == "\(clip.count)")
        case .draft01: #expect(head.headers["upload-incomplete"] == "?0")
        case .draft: #expect(head.headers["upload-complete"] == "?1")
        }
        let again = try await request(
          "PATCH", path, port: api.port, headers: owner + named + last + [("Upload-Offset", "\(clip.count)")])
        #expect(again.status == (dialect == .tus ? 204 : 201))
        // From an earlier offset it learns the right one.
        let early = try await request(
          "PATCH", path, port: api.port, headers: owner + named + last + [("Upload-Offset", "0")], body: clip)
        #expect(early.status == 409 && early.headers["upload-offset"] == "\(clip.count)")
        let others = try await request("HEAD", path, port: api.port, headers: [("Take5-User", "bob")] + named)
        #expect(others.status == 404)
        // Its bytes belong to its post alone.
        let second = try await EarlySubmission.submit([path, path], key: path, api)
        #expect(second.status == 404)
        let deleted = try await request("DELETE", path, port: api.port, headers: owner + named)
        #expect(deleted.status == 204)
        #expect(try await request("HEAD", path, port: api.port, headers: owner + named).status == 404)
      }
      #expect(try await api.get("/v1/posts/\(post)").json["job"] != .null)
      for clip in clips { #expect(try api.blobs.contains(SHA256.digest(of: clip))) }
    }
  }

  @Test("a submission whose upload another request removes meanwhile gets 404")
  func removedMeanwhile() async throws {
    try await RunningAPI.with { api in
      let id = try await UploadTests.upload(PhotoSubmissionTests.jpeg, api)
      let submit = { @Sendable in
        try await request(
          "POST", "/v1/posts", port: api.port, headers: [("Content-Type", "application/json")],
          body: Array(#"{"kind":"photo","author":"ada","photo":{"upload":"\#(id)"}}"#.utf8))
      }
      let submission = try await api.whileLocked("removal_count", in: "ACCESS EXCLUSIVE MODE") {
        let submission = Task { try await submit() }
        try await until { try await api.waitingStatements() != 0 }
        #expect(
          try await request("DELETE", "/v1/uploads/\(id)", port: api.port, headers: UploadTests.tus).status == 204)
        return submission
      }
      let refused = try await submission.value
      #expect(refused.status == 404 && UserClient.kind(refused) == "upload_not_found")
      #expect(try await api.get("/v1/posts?author=ada").json["items"].elements.isEmpty)
    }
  }

  @Test("the repetition of a submission whose first request uses the upload meanwhile gets the response to that one")
  func repeatedMeanwhile() async throws {
    let (calls, isDone) = (Shared(0), try Gate())
    let setting = RunningAPI.Setting.observing { blobs in
      // The request that is first to prepare the photo continues once the other one has its response.
      blobs.onPrepare = { _ in
        let isFirst = calls.withLock { calls in
          calls += 1
          return calls == 1
        }
        if isFirst { isDone.wait() }
      }
    }
    try await RunningAPI.with(setting) { api in
      let id = try await UploadTests.upload(PhotoSubmissionTests.jpeg, api)
      let submit = { @Sendable in
        try await request(
          "POST", "/v1/posts", port: api.port,
          headers: [("Content-Type", "application/json"), ("Idempotency-Key", "repeated")],
          body: Array(#"{"kind":"photo","author":"ada","photo":{"upload":"\#(id)"}}"#.utf8))
      }
      async let late = submit()
      try await until { calls.withLock { $0 } == 1 }
      let first = try await submit()
      isDone.open()
      let second = try await late
      #expect(first.status == 202 && second.status == 202)
      #expect(second.json["id"] == first.json["id"] && second.headers["idempotency-replayed"] == "true")
    }
  }
}
