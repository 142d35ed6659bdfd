import BlobTesting
import BoxTesting
import Crypto
import FoundationEssentials
import Glibc
import HTTPTesting
import Model
import Platform
import Postgres
import PostgresTesting
import Queue
import Store
import Testing
import WaitTesting

@testable import Blobs
@testable import Kit
@testable import Rooms

@Suite("Open uploads", .tags(.database, .network), .timeLimit(.minutes(60)))
struct OpenUploadTests {
  private static let ada = [("Take5-User", "ada")]

  private static func create(
    _ length: Int, as user: String? = "ada", _ api: RunningAPI
  ) async throws -> ClientResponse {
    try await UploadTests.create(
      length, api, headers: UploadTests.tus + (user.map { [("Take5-User", $0)] } ?? []), body: [])
  }

  private static func id(_ created: ClientResponse) throws -> PublicID {
    try #require(PublicID(try UploadTests.path(created).dropFirst("/v1/uploads/".count)))
  }

  /// Sets the time of the last byte of an upload back.
  private static func age(_ id: PublicID, seconds: Int, _ api: RunningAPI) {
    let time = timespec(tv_sec: time(nil) - seconds, tv_nsec: 0)
    #expect(utimensat(AT_FDCWD, "\(api.blobFolder)/uploads/\(id)", [time, time], 0) == 0)
  }

  @Test("a client has a number of open uploads; a refusal names them, and each that ends makes room for another one")
  func number() async throws {
    var setting = RunningAPI.Setting()
    setting.api.openUploads.user.uploads = 2
    setting.api.openUploads.key.uploads = 3
    try await RunningAPI.with(setting) { api in
      // One of another process, or of before a restart.
      let first = UploadRecord(
        user: "ada", length: 5, metadata: nil, createdAt: .now, expiresAt: .now.addingTimeInterval(1000))
      try api.blobs.uploads().create(first)
      try api.api.uploads.uploads.openUploads.read(api.blobs.uploads())
      let second = try Self.id(try await Self.create(5, api))
      let refused = try await Self.create(5, api)
      #expect(refused.status == 429 && UserClient.kind(refused) == "too_many_uploads")
      #expect(refused.headers["tus-resumable"] == "1.0.0")
      let wait = try #require(refused.headers["retry-after"].flatMap { Int($0) })
      #expect(1...1000 ~= wait)
      #expect(refused.json["uploads"].elements.compactMap { $0["id"].text } == ["\(first.id)", "\(second)"])
      #expect(try await Self.create(5, as: "bob", api).status == 201)
      for _ in 0..<3 { #expect(try await Self.create(5, as: nil, api).status == 201) }
      #expect(try await Self.create(5, as: nil, api).status == 429)
      // What is removed, here or by another process, counts no more.
      #expect(
        try await request("DELETE", "/v1/uploads/\(second)", port: api.port, headers: UploadTests.tus + Self.ada).status
          == 204)
      #expect(try await Self.create(5, api).status == 201)
      #expect(try await Self.create(5, api).status == 429)
      try api.blobs.uploads().remove(first.id)
      #expect(try await Self.create(5, api).status == 201)
    }
  }

  @Test("an upload that a submission has used, or that has expired, makes room")
  func used() async throws {
    var setting = RunningAPI.Setting.observing { $0.uploadsBegan = .distantPast }
    setting.api.openUploads.user.uploads = 1
    try await RunningAPI.with(setting) { api in
      let bytes = PhotoSubmissionTests.jpeg
      let id = try Self.id(try await Self.create(bytes.count, api))
      #expect(try await Self.create(5, api).status == 429)
      #expect(try await UploadTests.send(bytes, at: 0, to: "/v1/uploads/\(id)", api).status == 204)
      let submitted = try await request(
        "POST", "/v1/posts", port: api.port, headers: Self.ada + [("Content-Type", "application/json")],
        body: Array(#"{"kind":"photo","photo":{"upload":"\#(id)"}}"#.utf8))
      #expect(submitted.status == 202)
      let other = try Self.id(try await Self.create(5, api))
      #expect(try await Self.create(5, api).status == 429)
      Self.age(other, seconds: 3601, api)
      #expect(try await Self.create(5, api).status == 201)
    }
  }

  @Test("a client may declare a number of bytes, and an upload without a length declares the maximum")
  func bytes() async throws {
    var setting = RunningAPI.Setting()
    setting.api.openUploads.user.bytes = 100 << 20
    try await RunningAPI.with(setting) { api in
      #expect(try await Self.create(60 << 20, api).status == 201)
      let over = try await Self.create(41 << 20, api)
      #expect(over.status == 429 && UserClient.kind(over) == "too_many_uploads")
      let open = try await request(
        "POST", "/v1/uploads", port: api.port, headers: Self.ada + [("Upload-Complete", "?0")], body: [])
      #expect(open.status == 429 && open.headers["upload-complete"] == "?0")
      #expect(try await Self.create(40 << 20, api).status == 201)
      #expect(try await Self.create(1, as: "bob", api).status == 201)
    }
  }

  @Test("the creation of an upload counts as a submission of its user")
  func rate() async throws {
    var setting = RunningAPI.Setting()
    setting.limits.submissionsPerMinute = 1
    try await RunningAPI.with(setting) { api in
      #expect(try await Self.create(5, api).status == 201)
      let refused = try await Self.create(5, api)
      #expect(refused.status == 429 && UserClient.kind(refused) == "too_many_requests")
      #expect(try await Self.create(5, as: "bob", api).status == 201)
      // The key of a back-end creates the uploads of all users of an app.
      for _ in 0..<3 { #expect(try await Self.create(5, as: nil, api).status == 201) }
    }
  }

  @Test("space is reserved in steps as bytes arrive, and what is promised beyond them is not given to others")
  func steps() async throws {
    let length = 64 << 20
    // The start of a file whose index stands at its end: nothing is known against it.
    let start: [UInt8] =
      [0, 0, 0, 24] + Array("ftypisom".utf8) + [0, 0, 0, 0] + Array("isommp42".utf8)
      + withUnsafeBytes(of: UInt32(length - 1024).bigEndian, Array.init) + Array("mdat".utf8)
    try await RunningAPI.with { api in
      let path = try UploadTests.path(try await UploadTests.create(length, api))
      let id = try #require(PublicID(path.dropFirst("/v1/uploads/".count)))
      #expect(api.api.uploads.uploads.openUploads.promisedBytes == length)
      func allocated() throws -> Int {
        var status = stat()
        #expect(stat("\(api.blobFolder)/uploads/\(id)", &status) == 0)
        return Int(status.st_blocks) * 512
      }
      #expect(try await UploadTests.send(start.prefix(1), at: 0, to: path, api).status == 204)
      #expect(try 1 << 20...5 << 20 ~= allocated())
      #expect(api.api.uploads.uploads.openUploads.promisedBytes == length - (4 << 20) - 1)
      let step = start.dropFirst() + [UInt8](repeating: 0, count: 5 << 20)
      #expect(try await UploadTests.send(step, at: 1, to: path, api).status == 204)
      #expect(try 5 << 20...11 << 20 ~= allocated())
      #expect(api.api.uploads.uploads.openUploads.promisedBytes >= length - (11 << 20))
      #expect(
        try await request("DELETE", path, port: api.port, headers: UploadTests.tus).status == 204)
      #expect(api.api.uploads.uploads.openUploads.promisedBytes == 0)
    }
  }

  @Test("others find the free space without what is promised, up to half of it, and the bytes of the upload find it")
  func promise() async throws {
    var setting = RunningAPI.Setting()
    setting.api.minFree = 10 << 20
    setting.wrap = { FixedSpace(base: $0, free: 80 << 20) }
    try await RunningAPI.with(setting) { api in
      let path = try UploadTests.path(try await UploadTests.create(60 << 20, api))
      let form = MultipartForm.moment(front: [UInt8](repeating: 0, count: 36 << 20))
      let refused = try await api.submit(form)
      #expect(refused.status == 503 && UserClient.kind(refused) == "storage_low")
      #expect(try await UploadTests.create(36 << 20, api).status == 503)
      // Whatever else is promised.
      for _ in 0..<3 { #expect(try await UploadTests.create(34 << 20, api).status == 201) }
      #expect(try await UploadTests.send([0], at: 0, to: path, api).status == 204)
      #expect(try await api.get("/readyz").status == 200)
    }
  }

  @Test("the uploads of a user who was deleted by a worker on another machine are removed, and the next user's stay")
  func forgotten() async throws {
    try await RunningAPI.with { api in
      let elsewhere = try TemporaryFolder()
      let other = Store(blobs: try FolderBlobStore(folder: "\(elsewhere.path)/blobs"), rooms: .all)
      func create(_ user: String, at time: Date = .now) throws -> PublicID {
        let record = UploadRecord(user: user, length: 5, metadata: nil, createdAt: time, expiresAt: .distantFuture)
        try api.blobs.uploads().create(record)
        return record.id
      }
      _ = try create("ada")
      let bobs = try create("bob")
      let job = try await api.pool.transaction { session in
        try Forgetting.start("ada", request: nil, session, check: { _ in }).job
      }
      let claimed = try await api.pool.run { session in
        let worker = try JobQueue.register(host: "there", process: 1, session)
        return try JobQueue.claim(worker: worker, queue: JobKinds.taskQueue, limit: 1, session).first
      }
      let forgetting = try #require(claimed)
      #expect(forgetting.publicID == job)
      let deadline = Deadline("the last batch of a deletion")
      while try await api.pool.transaction({ session in try other.perform(forgetting, session) }) == .batch {
        try deadline.check()
      }
      #expect(try api.blobs.uploads().all().count == 2)
      // A record has milliseconds: within the last one of the former user it would be that user's.
      let adas = try create("ada", at: .now + 0.002)
      await api.api.uploads.uploads.removeExpired()
      #expect(try Set(api.blobs.uploads().all()) == [bobs, adas])
      try await api.pool.run { session in
        try session.executeScript("UPDATE forgotten_user SET forgotten_at = now() - interval '32 days'", name: "age")
        try Forgetting.dropOld(session)
        #expect(try session.execute("SELECT FROM forgotten_user").isEmpty)
      }
    }
  }

  @Test("a damaged record is logged by the request that reads it, and by each look at the uploads")
  func damagedRecord() async throws {
    let lines = Shared<[String]>([])
    var setting = RunningAPI.Setting()
    setting.log = { line in lines.withLock { $0.append(line) } }
    try await RunningAPI.with(setting) { api in
      let path = try UploadTests.path(await Self.create(5, api))
      let id = path.dropFirst("/v1/uploads/".count)
      try Descriptor(writing: "\(api.blobFolder)/uploads/\(id).json", replacing: true).write(Array("{".utf8))
      func logged() -> Int {
        lines.withLock { $0.count { $0.contains("the record of an upload is damaged") && $0.contains(id) } }
      }
      // The API looks at its uploads when it starts, too.
      let before = logged()
      let found = try await request("HEAD", path, port: api.port, headers: UploadTests.tus + Self.ada)
      #expect(found.status == 404 && logged() > before)
      let requested = logged()
      await api.api.uploads.uploads.removeExpired()
      #expect(logged() > requested)
    }
  }

  @Test("without a byte for an hour an upload expires, unless it is whole or a post awaits it")
  func idle() async throws {
    try await RunningAPI.with(.observing { $0.uploadsBegan = .distantPast }) { api in
      let clips = [boxedClip(seed: 1), boxedClip(seed: 2)]
      let idle = try Self.id(try await Self.create(5, api))
      let whole = try Self.id(try await Self.create(1, api))
      #expect(try await UploadTests.send([1], at: 0, to: "/v1/uploads/\(whole)", api).status == 204)
      var awaited: [PublicID] = []
      for clip in clips { awaited.append(try Self.id(try await Self.create(clip.count, api))) }
      let body = #"{"kind":"take5","front":{"upload":"\#(awaited[0])"},"back":{"upload":"\#(awaited[1])"}}"#
      let submitted = try await request(
        "POST", "/v1/posts", port: api.port, headers: Self.ada + [("Content-Type", "application/json")],
        body: Array(body.utf8))
      #expect(submitted.status == 202)
      func lifetime(_ id: PublicID) async throws -> Double? {
        let json = try await api.get("/v1/uploads/\(id)").json
        return json["expires_at"].text.flatMap(JSON.date(from:))?.timeIntervalSinceNow
      }
      for (id, expected) in [(idle, 3600.0), (whole, 86_400), (awaited[0], 86_400)] {
        let seconds = try #require(try await lifetime(id))
        #expect(expected - 600...expected ~= seconds)
      }
      for id in [idle, whole] + awaited { Self.age(id, seconds: 3601, api) }
      #expect(try await request("HEAD", "/v1/uploads/\(idle)", port: api.port, headers: UploadTests.tus).status == 404)
      for id in [whole] + awaited { #expect(try await lifetime(id) != nil) }
      var uploads = try api.blobs.uploads()
      uploads.began = .distantPast
      #expect(try uploads.removeExpired(now: .now) == 1)
      #expect(try Set(uploads.all()) == Set([whole] + awaited))
    }
  }
}

/// A blob store with a fixed amount of free space.
private struct FixedSpace: LocalBlobStore {
  let base: any BlobStore
  let free: Int64

  var ids: [PublicID] { base.ids }

  func stage() throws(BlobError) -> StagedBlob { try base.stage() }
  func prepare(_ blob: SealedBlob, replacing: Bool) throws(BlobError) { try base.prepare(blob, replacing: replacing) }
  func publish(_ blob: SealedBlob, replacing: Bool) throws(BlobError) { try base.publish(blob, replacing: replacing) }
  func open(_ hash: SHA256Digest) throws(BlobError) -> Descriptor { try base.open(hash) }
  func remove(_ hash: SHA256Digest) throws(BlobError) -> Bool { try base.remove(hash) }
  func uploads() throws(BlobError) -> UploadFolder { try base.uploads() }
  func freeBytes() throws(BlobError) -> Int64? { free }
  func contains(_ hash: SHA256Digest) throws(BlobError) -> Bool { try base.contains(hash) }
}
