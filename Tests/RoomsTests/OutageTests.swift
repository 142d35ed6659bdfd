import Blobs
import BoxTesting
import Crypto
import Glibc
import HTTPTesting
import Model
import Platform
import Postgres
import PostgresTesting
import Store
import Testing

@testable import Kit
@testable import Rooms

/// A blob store whose disk is full.
private struct FullBlobStore: LocalBlobStore {
  let base: any BlobStore

  var ids: [PublicID] { base.ids }

  func stage() throws(BlobError) -> StagedBlob { throw .system(SystemError(call: "write", code: ENOSPC)) }
  func prepare(_ blob: SealedBlob, replacing: Bool) throws(BlobError) { try base.prepare(blob, replacing: replacing) }
  func publish(_ blob: SealedBlob, replacing: Bool) throws(BlobError) { try base.publish(blob, replacing: replacing) }
  func open(_ hash: SHA256Digest) throws(BlobError) -> Descriptor { try base.open(hash) }
  func remove(_ hash: SHA256Digest) throws(BlobError) -> Bool { try base.remove(hash) }
  func uploads() throws(BlobError) -> UploadFolder { try base.uploads() }
  func freeBytes() throws(BlobError) -> Int64? { nil }
  func contains(_ hash: SHA256Digest) throws(BlobError) -> Bool { try base.contains(hash) }
}

@Suite("Outages", .tags(.database, .network), .timeLimit(.minutes(60)))
struct OutageTests {
  @Test("the service is ready without workers")
  func noWorkers() async throws {
    try await RunningAPI.with { api in
      #expect(try await api.get("/livez").status == 200)
      let ready = try await api.get("/readyz")
      #expect(ready.status == 200)
      #expect(ready.json["status"] == .string("ready"))
    }
  }

  @Test(
    "without workers, the API performs what a process that was killed began to remove, and accepts the same bytes then")
  func interruptedRemoval() async throws {
    try await RunningAPI.with { api in
      let (front, back) = (boxedClip(seed: 1), boxedClip(seed: 2))
      try await api.pool.run { session in
        _ = try session.execute(
          "INSERT INTO blob_removal (hash, bytes, begun_at) VALUES ($1, $2::bigint, now() - interval '2 minutes')",
          .bytes(SHA256.digest(of: front).bytes), .integer(front.count))
      }
      await api.api.uploads.uploads.collectReleased()
      #expect(try await api.submit(.moment(front: front, back: back)).status == 202)
    }
  }

  @Test("with too little free space media are refused, /readyz fails, and reading works")
  func lowSpace() async throws {
    try await RunningAPI.with(.init(api: .init(minFree: .max))) { api in
      // One form that is too long for text only, and a short one whose parts are media.
      let short = MultipartForm.moment(front: [1], back: [2])
      let responses = [
        try await api.submit(.moment(front: [UInt8](repeating: 0, count: 100_000))), try await api.submit(short),
        try await api.get("/readyz"),
      ]
      for response in responses {
        #expect(response.status == 503)
        #expect(response.json["type"] == .string("urn:take5:problem:storage_low"))
        #expect(response.headers["retry-after"] != nil)
      }
      #expect(try await api.get("/v1/posts").status == 200)
      #expect(try await api.storedCount() == 0)
    }
  }

  @Test("with little or no free space a post without media is stored")
  func textWithoutSpace() async throws {
    let settings = [
      RunningAPI.Setting(api: .init(minFree: .max)), RunningAPI.Setting(wrap: { FullBlobStore(base: $0) }),
    ]
    for setting in settings {
      try await RunningAPI.with(setting) { api in
        var form = MultipartForm()
        form.add("post", Array(#"{"kind":"photo","author":"ada","caption":"at the lake"}"#.utf8))
        let response = try await api.submit(form)
        #expect(response.status == 201)
        #expect(response.json["status"] == .string("ready"))
      }
    }
  }

  @Test("with a read-only database submissions and /readyz fail, and reading works")
  func readOnly() async throws {
    try await RunningAPI.with { api in
      try setReadOnly(true, api.url)
      for response in [try await api.submit(.moment()), try await api.get("/readyz")] {
        #expect(response.status == 503)
        #expect(response.json["type"] == .string("urn:take5:problem:database_read_only"))
        #expect(response.headers["retry-after"] != nil)
      }
      #expect(try await api.get("/v1/posts").status == 200)
      try setReadOnly(false, api.url)
      // A connection that was used only for reading fails at its first write.
      var refusals = 0
      for _ in 0..<3 where try await api.get("/readyz").status != 200 { refusals += 1 }
      #expect(try await api.get("/readyz").status == 200)
      #expect(try await api.submit(.moment()).status == 202)
    }
  }

  @Test("without a database requests get 503, and no file is left")
  func databaseUnavailable() async throws {
    let unreachable = DatabaseURL(socketFolder: "/nonexistent", user: "nobody", database: "none")
    try await RunningAPI.with(.init(database: unreachable)) { api in
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

  @Test("/readyz fails while the database refuses the blobs of this process, because they move or have moved away")
  func movedAway() async throws {
    try await RunningAPI.with { api in
      let id = try #require(api.blobs.ids.first)
      try await api.pool.run { session in
        _ = try session.execute("INSERT INTO blob_store (id) VALUES ($1::uuid)", .text(id.description))
      }
      #expect(try await api.get("/readyz").status == 200)
      let target = PublicID.now()
      #expect(try await api.pool.transaction { try Moving.begin(to: target, $0) })
      for isMoved in [false, true] {
        if isMoved { #expect(try await api.pool.transaction { try Moving.finish(to: target, $0) }) }
        for response in [try await api.get("/readyz"), try await api.submit(.moment())] {
          #expect(response.status == 503)
          #expect(response.json["type"] == .string("urn:take5:problem:storage_unavailable"))
        }
      }
    }
  }

  @Test("/livez fails for a process that should be restarted")
  func notLive() async throws {
    try await RunningAPI.with(.init(isLive: false)) { api in
      let live = try await api.get("/livez")
      #expect(live.status == 503)
      #expect(live.headers["retry-after"] != nil)
      #expect(live.json["type"] == .string("urn:take5:problem:database_unavailable"))
    }
  }

  @Test("a full disk gets 507, and nothing is stored")
  func diskFull() async throws {
    try await RunningAPI.with(.init(wrap: { FullBlobStore(base: $0) })) { api in
      let submitted = try await api.submit(.moment())
      #expect(submitted.status == 507)
      #expect(submitted.json["type"] == .string("urn:take5:problem:storage_full"))
      #expect(try await api.get("/readyz").status == 507)
      #expect(try await api.storedCount() == 0)
    }
  }

  @Test("without its mounted volume the storage is unavailable, and nothing is written to the mount point")
  func storageUnavailable() async throws {
    try await RunningAPI.with { api in
      let away = "\(api.blobFolder)-away"
      #expect(rename(api.blobFolder, away) == 0)
      try Folder.make(api.blobFolder)
      for response in [try await api.get("/readyz"), try await api.submit(.moment())] {
        #expect(response.status == 503)
        #expect(response.json["type"] == .string("urn:take5:problem:storage_unavailable"))
        #expect(response.headers["retry-after"] != nil)
      }
      #expect(try Folder.names(in: api.blobFolder).isEmpty)
      #expect(rmdir(api.blobFolder) == 0 && rename(away, api.blobFolder) == 0)
      #expect(try await api.get("/readyz").status == 200)
    }
  }
}
