import Blobs
import BoxTesting
import ControlAPI
import Crypto
import Definitions
import HTTPServer
import HTTPTesting
import Metrics
import Model
import Platform
import Postgres
import PostgresTesting
import Queue
import Store

/// The API on a real server with a database and a blob folder of its own.
struct RunningAPI: Sendable {
  let port: UInt16
  let url: DatabaseURL
  let pool: Pool
  let store: Store
  let access: AccessControl
  let blobs: any BlobStore
  let blobFolder: String
  let scrub: ScrubQueue
  let routes: [Route]

  static let template = TestTemplate(name: "control_api") { session in
    try Migrator(StoreMigrations.all).migrate(session)
    try JobQueue.prepareHistory(session)
  }

  /// How a test's API differs from the usual one.
  struct Setting: Sendable {
    /// The operator's key.
    var key: String?
    /// Whether only this machine can reach it.
    var isLoopback = true
    var searchLimit = Duration.seconds(2)
    var limits = RateLimits.Configuration()
    var minFree: Int64 = 0
    var isLive = true
    var uploads = UploadLimit()
    /// How long a request waits for the database.
    var timeout = Duration.seconds(20)
    var clipBytes: Int64 = 64 << 20
    /// Nil: the test's own database.
    var database: DatabaseURL?
    /// Whether changes are heard of; else they are found by looking.
    var listens = true
    var wrap: @Sendable (any BlobStore) -> any BlobStore = { $0 }
  }

  /// Runs a test against an API.
  static func with<Value: Sendable>(
    _ setting: Setting = Setting(), _ body: (RunningAPI) async throws -> Value
  ) async throws -> Value {
    try await withDatabase(template) { url in
      let folder = try TemporaryFolder()
      let blobFolder = "\(folder.path)/blobs"
      let blobs = setting.wrap(try FolderBlobStore(folder: blobFolder))
      let store = Store(blobs: blobs)
      let pool = Pool(
        setting.database ?? url, size: 3, timeout: setting.database == nil ? setting.timeout : .milliseconds(50))
      var definitions = SubmissionDefinitions(
        moment: try Definitions.take5Post(), clip: try Definitions.markerVideo(), photos: try Definitions.photos())
      definitions.moment.limits.bytes = setting.clipBytes
      let clock = ContinuousClock().now
      let access = AccessControl(
        operatorKey: setting.key, isLoopback: setting.isLoopback,
        limits: RateLimits(setting.limits, now: { clock.duration(to: .now) / .seconds(1) }), now: { 1_800_000_000 })
      let keys = Pool(url, size: 1)
      try await access.refresh(store, keys)
      await keys.close()
      let lists = Pool((setting.database ?? url).with(statementLimit: setting.searchLimit), size: 1)
      var watched = setting.database ?? url
      watched.pooling = setting.listens ? .session : .transaction
      let watch = try JobChangeNotifier(database: pool, url: watched)
      let watching = Task { await watch.run() }
      let scrub = ScrubQueue()
      let api = ControlAPI(
        database: pool, lists: lists, store: store, blobs: blobs, definitions: definitions, access: access,
        watch: watch,
        metrics: Metrics(), minFree: setting.minFree, uploads: setting.uploads, scrub: scrub,
        isLive: { setting.isLive })
      let value = try await withServer(router: api.router) { server in
        try await body(
          RunningAPI(
            port: server.port, url: url, pool: pool, store: store, access: access, blobs: blobs, blobFolder: blobFolder,
            scrub: scrub, routes: api.router.routes))
      }
      watching.cancel()
      await watching.value
      await lists.close()
      await pool.close()
      return value
    }
  }

  /// Makes an API key, which is known at once; its number.
  func keep(_ key: String, _ scopes: Set<Scope>) async throws -> Int64 {
    let id = try await pool.run { [store] session in
      try store.keep(keyNamed: "test", hash: SHA256.digest(of: Array(key.utf8)).bytes, scopes: scopes, session)
    }
    try await access.refresh(store, pool)
    return id
  }

  /// Revokes an API key, which is known at once.
  func revoke(_ id: Int64) async throws {
    _ = try await pool.run { [store] session in try store.revoke(key: id, session) }
    try await access.refresh(store, pool)
  }

  /// Sends a submission.
  func submit(_ form: MultipartForm, headers: [(String, String)] = []) async throws -> ClientResponse {
    try await request(
      "POST", "/v1/posts", port: port, headers: [("Content-Type", form.contentType)] + headers, body: form.bytes)
  }

  /// Reads a path.
  func get(_ path: String, headers: [(String, String)] = []) async throws -> ClientResponse {
    try await request("GET", path, port: port, headers: headers)
  }

  /// The files in the blob folder and the rows that a submission writes.
  func remains() async throws -> Int {
    var files = 0
    for folder in try Folder.names(in: blobFolder) where folder != "store-id" {
      files += try Folder.names(in: "\(blobFolder)/\(folder)").count
    }
    let rows: Int = try await pool.run { session in
      try session.execute("SELECT (SELECT count(*) FROM post) + (SELECT count(*) FROM blob) AS rows").single().get(
        "rows")
    }
    return files + rows
  }
}

extension MultipartForm {
  /// A sound moment.
  static func moment(
    front: [UInt8] = boxedClip(seed: 1), back: [UInt8] = boxedClip(seed: 2), post: String = #"{"author":"ada"}"#
  ) -> MultipartForm {
    var form = MultipartForm()
    form.add("front", filename: "front.mov", contentType: "video/quicktime", front)
    form.add("back", filename: "back.mp4", contentType: "video/mp4", back)
    form.add("post", contentType: "application/json", Array(post.utf8))
    return form
  }
}
