import BlobTesting
import Blobs
import HTTPServer
import HTTPTesting
import Model
import Platform
import PostgresTesting
import Testing
import WaitTesting

@testable import Kit
@testable import Postgres
@testable import Rooms

/// The table of docs/limits.md, "What one client can occupy", by the requests of each kind of client.
@Suite("What each kind of client can occupy", .tags(.database, .network), .timeLimit(.minutes(60)))
struct ShareTableTests {
  enum Kind: String, CaseIterable {
    case user
    /// The API key of a back-end, without a user.
    case key
    /// No credential.
    case address
  }

  /// What takes a place.
  enum Resource: CaseIterable {
    case submissions, parts, streams, exports, waits, preferences, uploads, declaredBytes, lists
  }

  @Test(
    "beyond its share a client of any kind is refused, whatever it asks for, and others are served",
    arguments: Kind.allCases)
  func walk(kind: Kind) async throws {
    var setting = RunningAPI.Setting(key: kind == .address ? nil : "k1")
    setting.api.maxSubmissions = 40
    setting.listConnections = 4
    setting.api.openUploads.user = OpenUploads.Limit(uploads: 6, bytes: 1 << 20)
    setting.api.openUploads.key = OpenUploads.Limit(uploads: 9, bytes: 4 << 20)
    try await RunningAPI.with(setting) { api in
      let scene = try await Scene(kind, api)
      for resource in Resource.allCases {
        try await scene.holdingShare(of: resource) {
          let response = try await scene.client.ask(resource, api)
          // A submission is stored, and its response does not wait.
          #expect(response.status == (resource == .preferences ? 202 : 429), "\(resource)")
          let seconds = response.headers["retry-after"].flatMap { Int($0) }
          if let expected = Self.seconds[resource] {
            #expect(seconds == expected, "\(resource)")
          } else {
            #expect((seconds != nil) == (resource != .preferences), "\(resource)")
          }
          for other in scene.others {
            let response = try await other.ask(resource, api)
            #expect(200..<300 ~= response.status, "\(resource): \(response.status)")
          }
        }
        // What has ended counts no more.
        try await until { 200..<300 ~= (try await scene.client.ask(resource, api)).status }
      }
    }
  }

  /// The seconds of `Retry-After`; an upload ends at a time of its own.
  private static let seconds: [Resource: Int] = [
    .submissions: 5, .parts: 5, .streams: 10, .exports: 30, .waits: 5, .lists: 5,
  ]

  /// Who asks, as which user, and a job that it sees and that does not end.
  private struct Client {
    let headers: [(String, String)]
    let user: String?
    let job: String

    init(_ headers: [(String, String)], as user: String?, _ api: RunningAPI) async throws {
      (self.headers, self.user) = (headers, user)
      let post = try await api.submit(Self.form(of: user), headers: headers)
      job = try #require(post.json["job"]["url"].text)
    }

    private static func form(of user: String?) -> MultipartForm { .moment(post: #"{"author":"\#(user ?? "cy")"}"#) }

    /// Asks for a place, and returns the head of the response.
    func ask(_ resource: Resource, _ api: RunningAPI) async throws -> ClientResponse {
      var (line, fields, body) = ("", headers, [UInt8]())
      switch resource {
      case .submissions, .preferences:
        let form = Self.form(of: user)
        (line, body) = ("POST /v1/posts", form.bytes)
        fields.append(("Content-Type", form.contentType))
        if resource == .preferences { fields.append(("Prefer", "wait=1")) }
      case .parts:
        (line, body) = ("POST /v1/uploads", Array("abc".utf8))
        fields += [("Upload-Complete", "?1"), ("Upload-Length", "3")]
      case .uploads, .declaredBytes:
        line = "POST /v1/uploads"
        fields += [("Tus-Resumable", "1.0.0"), ("Upload-Length", resource == .uploads ? "1" : "\(1 << 19)")]
      case .streams: line = user == nil ? "GET \(job)/events" : "GET /v1/events"
      case .exports: line = "GET /v1/users/\(user ?? "ada")/export"
      case .waits: line = "GET \(job)?wait=1"
      case .lists: line = "GET /v1/posts"
      }
      let head = fields.reduce("\(line) HTTP/1.1\r\nHost: localhost\r\n") { $0 + "\($1.0): \($1.1)\r\n" }
      return try await onThread("client") { [head, body, port = api.port] in
        var connection = try ClientConnection(port: port)
        try connection.send("\(head)Content-Length: \(body.count)\r\n\r\n")
        try connection.send(body)
        return try connection.receive(toHead: true)
      }
    }
  }

  /// A client of a kind, and others.
  private struct Scene {
    let api: RunningAPI
    let holder: ShareHolder
    let client: Client
    let others: [Client]

    init(_ kind: Kind, _ api: RunningAPI) async throws {
      self.api = api
      if kind == .address {
        holder = .address(try #require(IPAddress("127.0.0.1")).site)
        client = try await Client([], as: nil, api)
        others = [try await Client([("Take5-User", "bob")], as: "bob", api)]
        return
      }
      let ada = try await api.token(of: "ada", minter: .operatorKey).header
      let bob = try await api.token(of: "bob", minter: .operatorKey).header
      let key = try await Client([("Authorization", "Bearer k1")], as: nil, api)
      if kind == .user {
        (holder, client) = (.user(id: "ada"), try await Client(ada, as: "ada", api))
      } else {
        _ = try await api.createKey("k2", Set(Scope.allCases))
        (holder, client) = (.key(Caller.operatorName), key)
      }
      let other = kind == .user ? key : try await Client([("Authorization", "Bearer k2")], as: nil, api)
      others = [try await Client(bob, as: "bob", api), other]
    }

    /// Runs `body` while the client has its share.
    func holdingShare(of resource: Resource, _ body: () async throws -> Void) async throws {
      switch resource {
      case .submissions: try await holding(MediaSubmissions.userSubmissions, or: 20, of: api.submissions.limit, body)
      case .parts:
        try await holding(
          UploadRoutes.userUploadParts, or: UploadRoutes.maxUploadParts / 2, of: api.api.uploads.parts, body)
      case .streams:
        try await holding(OpenStreams.userStreams, or: OpenStreams.maxStreams / 2, of: api.changes.streams.limit, body)
      case .exports: try await holding(Exports.userExports, or: Exports.maxExports / 2, of: api.exports.limit, body)
      case .waits, .preferences:
        try await holding(
          MediaSubmissions.userWaits, or: MediaSubmissions.maxWaits / 2, of: api.submissions.waits, body)
      case .uploads, .declaredBytes: try await holdingUploads(resource, body)
      case .lists: try await holdingConnections(body)
      }
    }

    /// - Parameter share: that of a user; `other` is that of other clients.
    private func holding(
      _ share: Int, or other: Int, of limit: SharedLimit, _ body: () async throws -> Void
    ) async throws {
      // What earlier requests hold ends soon.
      try await until { limit.count == 0 }
      var taken = 0
      let deadline = Deadline("a refusal of a share")
      while true {
        try deadline.check()
        do throws(Problem) { try limit.take(holder) } catch { break }
        taken += 1
      }
      if case .user = holder { #expect(taken == share) } else { #expect(taken == other) }
      try await body()
      for _ in 0..<taken { limit.leave(holder) }
    }

    /// Creates uploads until one is refused.
    private func holdingUploads(_ resource: Resource, _ body: () async throws -> Void) async throws {
      let folder = try api.blobs.uploads()
      func removeAll() throws { for id in try folder.all() { try folder.remove(id) } }
      try removeAll()
      var created = 0
      let deadline = Deadline("a refusal of an upload")
      while try await client.ask(resource, api).status == 201 {
        try deadline.check()
        created += 1
      }
      let isUser = if case .user = holder { true } else { false }
      #expect(created == (resource == .uploads ? isUser ? 6 : 9 : isUser ? 2 : 8))
      try await body()
      try removeAll()
    }

    /// Uses the connections of the client, and has as many tasks wait as it may.
    private func holdingConnections(_ body: () async throws -> Void) async throws {
      let (pool, client, gate) = (api.api.kit.lists, holder.poolClient, try Gate())
      let running = Shared(0)
      let share = client.share(of: pool.size, besides: 0)
      let tasks = (0..<share + client.maxWaiting).map { _ in
        Task.immediate {
          try await PoolClient.$current.withValue(client) {
            try await pool.run { _ in
              running.withLock { $0 += 1 }
              gate.wait()
            }
          }
        }
      }
      try await until { running.withLock { $0 } == share }
      try await body()
      #expect(running.withLock { $0 } == share)
      gate.open()
      for task in tasks { try await task.value }
    }
  }
}
