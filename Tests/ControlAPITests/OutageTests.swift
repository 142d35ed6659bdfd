import Blobs
import Crypto
import Glibc
import HTTPTesting
import Platform
import Postgres
import PostgresTesting
import Testing

@testable import ControlAPI

/// A blob store on a disk without room.
private struct FullBlobStore: BlobStore {
  let base: any BlobStore

  func stage() throws(BlobError) -> StagedBlob { throw .system(SystemError(call: "write", code: ENOSPC)) }
  func publish(_ blob: SealedBlob, replacing: Bool) throws(BlobError) { try base.publish(blob, replacing: replacing) }
  func open(_ hash: SHA256Digest) throws(BlobError) -> Descriptor { try base.open(hash) }
  func remove(_ hash: SHA256Digest) throws(BlobError) -> Bool { try base.remove(hash) }
  func freeBytes() throws(BlobError) -> Int64? { nil }
  func contains(_ hash: SHA256Digest) throws(BlobError) -> Bool { try base.contains(hash) }
}

@Suite(.tags(.database, .network), .timeLimit(.minutes(10)))
struct OutageTests {
  @Test func isReadyWithoutWorkers() async throws {
    try await RunningAPI.with { api in
      #expect(try await api.get("/livez").status == 200)
      let ready = try await api.get("/readyz")
      #expect(ready.status == 200)
      #expect(ready.json["status"] == .string("ready"))
    }
  }

  @Test("with little room left no media are taken in, as /readyz says, and readers go on")
  func littleRoom() async throws {
    try await RunningAPI.with(.init(minFree: .max)) { api in
      // One that is too long to be text alone, and one whose parts tell that it is not.
      let short = MultipartForm.moment(front: [1], back: [2])
      let answers = [
        try await api.submit(.moment(front: [UInt8](repeating: 0, count: 100_000))), try await api.submit(short),
        try await api.get("/readyz"),
      ]
      for answer in answers {
        #expect(answer.status == 503)
        #expect(answer.json["type"] == .string("urn:take5:problem:storage_low"))
        #expect(answer.headers["retry-after"] != nil)
      }
      #expect(try await api.get("/v1/posts").status == 200)
      #expect(try await api.remains() == 0)
    }
  }

  @Test("with little room left, and with none, a post of text alone is taken in")
  func textWithoutRoom() async throws {
    let settings = [
      RunningAPI.Setting(minFree: .max), RunningAPI.Setting(wrap: { FullBlobStore(base: $0) }),
    ]
    for setting in settings {
      try await RunningAPI.with(setting) { api in
        var form = MultipartForm()
        form.add("post", Array(#"{"kind":"photo","author":"ada","caption":"at the lake"}"#.utf8))
        let answer = try await api.submit(form)
        #expect(answer.status == 201)
        #expect(answer.json["status"] == .string("ready"))
      }
    }
  }

  @Test("while the database takes no writes a submission is told so, as /readyz is, and readers go on")
  func readOnly() async throws {
    try await RunningAPI.with { api in
      try setReadOnly(true, api.url)
      for answer in [try await api.submit(.moment()), try await api.get("/readyz")] {
        #expect(answer.status == 503)
        #expect(answer.json["type"] == .string("urn:take5:problem:database_read_only"))
        #expect(answer.headers["retry-after"] != nil)
      }
      #expect(try await api.get("/v1/posts").status == 200)
      try setReadOnly(false, api.url)
      // A connection that only read until now finds out with its first writing.
      var refusals = 0
      while try await api.get("/readyz").status != 200, refusals < 3 { refusals += 1 }
      #expect(try await api.get("/readyz").status == 200)
      #expect(try await api.submit(.moment()).status == 202)
    }
  }

  @Test func saysThatTheDatabaseIsAway() async throws {
    let nowhere = DatabaseURL(socketFolder: "/nonexistent", user: "nobody", database: "none")
    try await RunningAPI.with(.init(database: nowhere)) { api in
      let submitted = try await api.submit(.moment())
      #expect(submitted.status == 503)
      #expect(submitted.headers["retry-after"] != nil)
      #expect(submitted.json["type"] == .string("urn:take5:problem:database_unavailable"))
      let path = "/v1/posts/01890000-0000-7000-8000-000000000000"
      #expect(try await api.get(path).status == 503)
      #expect(try await api.get("/readyz").status == 503)
      #expect(try await api.get("/livez").status == 200)
      var files = 0
      for folder in try Folder.names(in: api.blobFolder) where folder != "store-id" {
        files += try Folder.names(in: "\(api.blobFolder)/\(folder)").count
      }
      #expect(files == 0)
    }
  }

  @Test("a process that should be started anew is not live")
  func notLive() async throws {
    try await RunningAPI.with(.init(isLive: false)) { api in
      let live = try await api.get("/livez")
      #expect(live.status == 503)
      #expect(live.headers["retry-after"] != nil)
      #expect(live.json["type"] == .string("urn:take5:problem:database_unavailable"))
    }
  }

  @Test func saysThatTheDiskIsFull() async throws {
    try await RunningAPI.with(.init(wrap: { FullBlobStore(base: $0) })) { api in
      let submitted = try await api.submit(.moment())
      #expect(submitted.status == 507)
      #expect(submitted.json["type"] == .string("urn:take5:problem:storage_full"))
      #expect(try await api.get("/readyz").status == 507)
      #expect(try await api.remains() == 0)
    }
  }

  @Test("a folder that nothing is mounted on is no storage: nothing is ready, taken in or missing")
  func saysThatTheStorageIsAway() async throws {
    try await RunningAPI.with { api in
      let away = "\(api.blobFolder)-away"
      #expect(rename(api.blobFolder, away) == 0)
      try Folder.make(api.blobFolder)
      for answer in [try await api.get("/readyz"), try await api.submit(.moment())] {
        #expect(answer.status == 503)
        #expect(answer.json["type"] == .string("urn:take5:problem:storage_unavailable"))
        #expect(answer.headers["retry-after"] != nil)
      }
      #expect(try Folder.names(in: api.blobFolder).isEmpty)
      #expect(rmdir(api.blobFolder) == 0 && rename(away, api.blobFolder) == 0)
      #expect(try await api.get("/readyz").status == 200)
    }
  }
}
