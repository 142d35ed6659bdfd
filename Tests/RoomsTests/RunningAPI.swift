import BlobTesting
import Blobs
import BoxTesting
import Crypto
import Definitions
import FoundationEssentials
import HTTPServer
import HTTPTesting
import Model
import Platform
import Postgres
import PostgresTesting
import Queue
import Store
import Telemetry
import Testing
import WaitTesting

@testable import Kit
@testable import Rooms

/// The API on an HTTP server, with a database and a blob directory of its own.
struct RunningAPI: Sendable {
  let port: UInt16
  let url: DatabaseURL
  let pool: Pool
  let store: Store
  let access: AccessControl
  let blobs: any BlobStore
  let blobFolder: String
  let scrub: ScrubQueue
  let changes: Changes
  let awaitingPosts: AwaitingPosts
  let submissions: MediaSubmissions
  let exports: Exports
  let api: ControlAPI
  /// Another machine, with an empty folder.
  let otherMachine: ControlAPI
  /// The operations: all routes except the console's files.
  let routes: [Route]

  static let template = TestTemplate(name: "control_api") { session in
    try Migrator(.all).migrate(session)
    try session.transaction(JobHistory.addPartitions)
  }

  /// The settings of the API in a test.
  struct Setting: Sendable {
    /// The operator's key.
    var key: String?
    /// Whether only this machine can connect to the service.
    var isLoopback = true
    var searchLimit = Duration.seconds(2)
    /// The number of connections to the database, without those for lists.
    var connections = 3
    /// The number of lists that run at the same time.
    var listConnections = 1
    /// The time for which a list waits for its turn.
    var listTimeout = Duration.seconds(120)
    /// The time for which what only reads waits for a lock; nil: as long as it takes.
    var readLockLimit: Duration?
    /// The time for which what a client has asked for waits for a lock if it does not only read; nil: as long as it takes.
    var requestLockLimit: Duration?
    /// The time for which a reading statement runs, except a list's; nil: as long as it takes.
    var readLimit: Duration?
    /// The number of connections that what only reads leaves to others.
    var reservedConnections = 0
    var limits = RateLimits.Configuration()
    var providers: [IdentityProvider] = []
    /// Nil: the service has no accounts.
    var passwords: PasswordWork?
    var api = ControlAPI.Configuration(minFree: 0)
    var isLive = true
    /// Receives the lines of the log.
    var log: @Sendable (String) -> Void = { _ in }
    /// The timeout of a request for a connection from the pool.
    var timeout = Duration.seconds(120)
    var clipBytes: Int64 = 64 << 20
    /// How moments are judged by the daily window.
    var window: Definition.Window?
    /// The fields of posts and of users.
    var fields = RecordFields()
    /// Kinds of collections beside the built-in ones.
    var kinds: [CollectionDefinition] = []
    /// Who sees the first look of a moment.
    var look: LookAudience?
    /// Whether the posts of a marker are held.
    var holdsMarkers = false
    /// Kinds of collections beside the built-in ones.
    var collections: [String: CollectionDefinition] = [:]
    var streamsPerUser = 16
    /// Another database; nil: the test's own database.
    var database: DatabaseURL?
    /// Whether changes are received as notifications; otherwise they are found by polling.
    var listens = true
    var wrap: @Sendable (any BlobStore) -> any BlobStore = { $0 }
    var server = ServerConfiguration()
  }

  /// Runs a test with an API.
  static func with<Value: Sendable>(
    _ setting: Setting = Setting(), _ body: (RunningAPI) async throws -> Value
  ) async throws -> Value {
    return try await withDatabase(template) { url in
      let folder = try TemporaryFolder()
      let blobFolder = "\(folder.path)/blobs"
      let blobs = setting.wrap(try FolderBlobStore(folder: blobFolder))
      // What a test deletes goes at once.
      let store = Store(blobs: blobs, rooms: .all, releasedPause: .zero)
      let pool = Pool(
        (setting.database ?? url).with(readLimit: setting.readLimit).with(readLockLimit: setting.readLockLimit)
          .with(requestLockLimit: setting.requestLockLimit),
        size: setting.connections,
        reserved: setting.reservedConnections, timeout: setting.database == nil ? setting.timeout : .milliseconds(50))
      var definitions = SubmissionDefinitions(
        moment: try Definitions.take5Post(), clip: try Definitions.markerVideo(), photos: try Definitions.photos(),
        collections: try Definitions.collections().merging(setting.collections) { $1 }, fields: setting.fields)
      for kind in setting.kinds { definitions.collections[kind.name] = kind }
      definitions.moment.limits.bytes = setting.clipBytes
      definitions.moment.window = setting.window
      definitions.moment.look = setting.look
      if setting.holdsMarkers { definitions.clip.moderation = .hold }
      let clock = ContinuousClock().now
      let access = AccessControl(
        operatorKey: setting.key, isLoopback: setting.isLoopback,
        limits: RateLimits(setting.limits, now: { clock.duration(to: .now) / .seconds(1) }),
        tokens: UserTokenCache(pool), providers: IdentityProviders(setting.providers),
        hasAccounts: setting.passwords != nil, publicURL: setting.server.publicURL, now: { 1_800_000_000 })
      let keys = Pool(url, size: 1)
      try await access.refresh(keys)
      await keys.close()
      let lists = Pool(
        (setting.database ?? url).with(statementLimit: setting.searchLimit).with(readLockLimit: setting.readLockLimit),
        size: setting.listConnections, boundsWaiting: true, timeout: setting.listTimeout)
      var listened = setting.database ?? url
      listened.pooling = setting.listens ? .session : .transaction
      let log = Logger(format: .text, write: setting.log)
      let changes = try Changes(
        database: pool, url: listened, access: access, userStreams: setting.streamsPerUser,
        log: log, metrics: Metrics())
      let scrub = ScrubQueue()
      let machine = { [definitions] (blobs: any BlobStore) in
        ControlAPI(
          database: pool, lists: lists, store: store, blobs: blobs, definitions: definitions, access: access,
          changes: changes, metrics: Metrics(), configuration: setting.api, scrub: scrub,
          passwords: setting.passwords, log: log, isLive: { setting.isLive })
      }
      let api = machine(blobs)
      let other = machine(try FolderBlobStore(folder: "\(folder.path)/other"))
      let tasks = [Task { await changes.run() }, Task { await api.run() }]
      let value = try await withServer(setting.server, router: api.router) { server in
        try await body(
          RunningAPI(
            port: server.port, url: url, pool: pool, store: store, access: access, blobs: blobs, blobFolder: blobFolder,
            scrub: scrub, changes: changes, awaitingPosts: api.uploads.uploads.awaitingPosts,
            submissions: try #require(api.rooms.lazy.compactMap { $0 as? PostRoutes }.first).submissions,
            exports: try #require(api.rooms.lazy.compactMap { $0 as? ExportRoutes }.first).exports,
            api: api, otherMachine: other, routes: api.rooms.filter { !($0 is ConsoleRoutes) }.flatMap(\.routes)))
      }
      for task in tasks { task.cancel() }
      for task in tasks { await task.value }
      await lists.close()
      await pool.close()
      return value
    }
  }

  /// Creates an API key, which is valid at once; returns its number.
  func createKey(_ key: String, _ scopes: Set<Scope>) async throws -> Int64 {
    let id = try await pool.run { session in
      try Keys.insert(named: "test", hash: SHA256.digest(of: Array(key.utf8)).bytes, scopes: scopes, session)
    }
    try await access.refresh(pool)
    return id
  }

  /// Makes the codes that clients have requested, as a worker does.
  func makeRequestedCodes() async throws {
    try await until("no code is requested") { try await !pool.transaction(OneTimeCode.makeRequested) }
  }

  /// Revokes an API key, which is invalid at once.
  func revoke(_ id: Int64) async throws {
    _ = try await pool.run { session in try Keys.revoke(id, session) }
    try await access.refresh(pool)
  }

  /// Sends a form to `/v1/posts`.
  func submit(_ form: MultipartForm, headers: [(String, String)] = []) async throws -> ClientResponse {
    try await request(
      "POST", "/v1/posts", port: port, headers: [("Content-Type", form.contentType)] + headers, body: form.bytes)
  }

  /// Sends a GET request.
  func get(_ path: String, headers: [(String, String)] = []) async throws -> ClientResponse {
    try await request("GET", path, port: port, headers: headers)
  }

  /// The number of files in the blob directory and of rows in the tables post and blob.
  func storedCount() async throws -> Int {
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
  /// A form with a valid moment.
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

extension ClientResponse {
  /// The body as JSON; null if it is not JSON.
  var json: JSONValue { (try? JSONValue(text: body)) ?? .null }
}

extension JSONValue {
  /// Reads a text of the service, of any size.
  init(text: [UInt8]) throws { self = try JSONReader.value(of: text, maxDepth: 64, maxValues: .max) }

  /// A member of an object; null if it is absent.
  subscript(_ name: String) -> JSONValue {
    if case .object(let members) = self { members[name] ?? .null } else { .null }
  }

  /// An element of an array; null if it is absent.
  subscript(_ index: Int) -> JSONValue {
    if case .array(let elements) = self, elements.indices.contains(index) { elements[index] } else { .null }
  }

  /// The elements of an array; empty for any other value.
  var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }

  /// The text of a string; nil for any other value.
  var text: String? { if case .string(let text) = self { text } else { nil } }

  /// The names of an object's members; empty for any other value.
  var names: Set<String> { if case .object(let members) = self { Set(members.keys) } else { [] } }
}

extension Tag {
  /// Needs the private PostgreSQL server of the test run.
  @Tag static var database: Self
  /// Uses a server on a local socket.
  @Tag static var network: Self
}

extension ControlAPI.Configuration {
  init(minFree: Int64 = 0, maxSubmissions: Int? = nil) {
    self.init()
    self.minFree = minFree
    self.maxSubmissions = maxSubmissions ?? self.maxSubmissions
  }
}
