import Crypto
import HTTPTesting
import Model
import Platform
import Postgres
import Store
import Testing

@testable import HTTPServer
@testable import Kit
@testable import Rooms

@Suite("Access control", .tags(.database, .network), .timeLimit(.minutes(60)))
struct AccessTests {
  private static func head(_ method: String, _ target: String, _ headers: HeaderFields) throws -> RequestHead {
    RequestHead(
      method: method, target: try #require(RequestTarget(target)), version: .http11, headers: headers, framing: .none)
  }

  private static let client = IPAddress("127.0.0.1")!

  private static func access(_ operatorKey: String?) -> AccessControl {
    AccessControl(
      operatorKey: operatorKey, isLoopback: true, limits: RateLimits(.init(), now: { 0 }),
      tokens: UserTokenCache { _ in nil }, now: { 0 })
  }

  /// The client of an admission that does not wait.
  private static func caller(_ admitted: Admitted) throws -> Caller {
    guard case .known(let principal) = admitted else { throw ProblemKind.unauthorized.problem("pending") }
    return try #require(principal as? Caller)
  }

  @Test(
    "only the operator's key has all scopes",
    arguments: [
      ("Bearer s3cret-key", true), ("bearer s3cret-key", true), ("Bearer   s3cret-key", true), ("", false),
      ("Bearer", false), ("Bearer ", false), ("Bearer s3cret-kez", false), ("Bearer s3cret-key2", false),
      ("Basic s3cret-key", false), ("s3cret-key", false),
    ])
  func operatorKey(value: String, isAdmitted: Bool) throws {
    let access = Self.access("s3cret-key")
    let head = try Self.head("POST", "/v1/posts", ["Authorization": value])
    let admitted = try? Self.caller(access.admit(head, from: Self.client, to: .key(Set(Scope.allCases))))
    #expect((admitted?.credential == .operatorKey) == isAdmitted)
  }

  @Test("a bearer token begins behind the blank, whatever its first character combines with")
  func combiningBearer() throws {
    let head = try Self.head("GET", "/v1/posts", ["Authorization": "Bearer \u{301}x"])
    #expect(head.bearer?.utf8.count == 3)
  }

  @Test("a request uses the share of the user that it acts as, else of the API key, and else of the address")
  func shares() {
    func holder(_ credential: Caller.Credential, _ user: String?) -> ShareHolder? {
      Caller(credential: credential, user: user).shareHolder
    }
    #expect(holder(.key(7), "ada") == .user(Array("ada".utf8)))
    #expect(holder(.key(7), nil) == .key("7"))
    #expect(holder(.operatorKey, nil) == .key(Caller.operatorName))
    for credential in [Caller.Credential.none, .signature, .stranger] { #expect(holder(credential, "ada") == nil) }
    #expect(ShareHolder.user(Array("\u{E9}".utf8)) != .user(Array("e\u{301}".utf8)))
  }

  @Test("before the first refresh only the operator's key is valid")
  func unknownKeys() throws {
    let access = Self.access(nil)
    let head = try Self.head("GET", "/v1/posts", ["Host": "localhost"])
    #expect(throws: Problem.self) { try access.admit(head, from: Self.client, to: .key([.read])) }
  }

  @Test("a route without scopes needs a key too; only a route for anyone does not")
  func routeAccess() throws {
    let access = Self.access("k1")
    let head = try Self.head("GET", "/v1/posts", ["Host": "localhost"])
    for open in [RouteAccess.unlimited, .anyone] {
      #expect(try Self.caller(access.admit(head, from: Self.client, to: open)) == .anonymous)
    }
    for closed in [RouteAccess.key([]), .key([.read]), .upload([]), .userToken] {
      #expect(throws: Problem.self) { try access.admit(head, from: Self.client, to: closed) }
    }
    // Media admit a stranger, who sees what is public, but no invalid credential.
    #expect(try Self.caller(access.admit(head, from: Self.client, to: .media([.read]))).viewer == .stranger)
    for credential in ["Bearer wrong", "Basic k1", ""] {
      let invalid = try Self.head("GET", "/v1/media/x", ["Host": "localhost", "Authorization": credential])
      #expect(throws: Problem.self) { try access.admit(invalid, from: Self.client, to: .media([.read])) }
    }
  }

  @Test("every request needs a key, except health checks")
  func everyRequest() async throws {
    try await RunningAPI.with(.init(key: "k1")) { api in
      for path in ["/v1/posts/x", "/metrics", "/nowhere"] {
        let refused = try await api.get(path)
        #expect(refused.status == 401)
        #expect(refused.headers["www-authenticate"]?.hasPrefix("Bearer") == true)
        #expect(refused.headers["content-type"] == "application/problem+json")
      }
      for path in ["/livez", "/readyz"] { #expect(try await api.get(path).status == 200) }
      let upload = try await api.submit(.moment())
      #expect(upload.status == 401)
      #expect(try await api.storedCount() == 0)
      #expect(try await api.submit(.moment(), headers: [("Authorization", "Bearer k1")]).status == 202)
    }
  }

  @Test("a stored key has its scopes until it is revoked, and revoking the last key keeps the service closed")
  func storedKeys() async throws {
    try await RunningAPI.with { api in
      #expect(try await api.get("/v1/posts").status == 200)
      let id = try await api.createKey("t5-reader", [.read])
      let key = [("Authorization", "Bearer t5-reader")]
      #expect(try await api.get("/v1/posts").status == 401)
      #expect(try await api.get("/v1/posts", headers: key).status == 200)
      let refused = try await api.submit(.moment(), headers: key)
      #expect(refused.status == 403)
      #expect(refused.json["type"] == .string("urn:take5:problem:forbidden"))
      try await api.revoke(id)
      #expect(try await api.get("/v1/posts").status == 401)
      #expect(try await api.get("/v1/posts", headers: key).status == 401)
      #expect(try await api.get("/livez").status == 200)
    }
  }

  @Test("each operation needs its own scope", arguments: Scope.allCases)
  func scopes(scope: Scope) async throws {
    try await RunningAPI.with(.init(key: "k1")) { api in
      let all = [("Authorization", "Bearer k1")]
      let post = try await api.submit(.moment(), headers: all)
      let path = try #require(post.headers["location"])
      _ = try await api.createKey("t5-one", [scope])
      let key = [("Authorization", "Bearer t5-one"), ("Content-Type", "application/json")]
      func status(_ method: String, _ path: String, _ body: String? = nil) async throws -> Int {
        try await request(method, path, port: api.port, headers: key, body: body.map { Array($0.utf8) }).status
      }
      #expect(try await status("GET", path) == (scope == .read ? 200 : 403))
      // The response to a change contains the post, so it needs the scope read as well.
      #expect(try await status("PATCH", path, "{}") == 403)
      #expect(try await status("GET", "/metrics") == (scope == .admin ? 200 : 403))
      #expect(try await status("POST", "/v1/posts/search", "{}") == (scope == .read ? 200 : 403))
      #expect(try await status("DELETE", path) == (scope == .delete ? 204 : 403))
    }
  }

  @Test("requests beyond the rate limit get 429 with Retry-After")
  func tooOften() async throws {
    var setting = RunningAPI.Setting()
    setting.limits.requestsPerMinute = 3
    try await RunningAPI.with(setting) { api in
      var statuses: [Int] = []
      for _ in 0..<4 { statuses.append(try await api.get("/v1/posts").status) }
      #expect(statuses == [200, 200, 200, 429])
      let refused = try await api.get("/v1/posts")
      let seconds = try #require(refused.headers["retry-after"].flatMap { Int($0) })
      #expect(seconds >= 1)
      #expect(try await api.get("/livez").status == 200)
      #expect(try await api.get("/readyz").status == 429)
    }
  }

  @Test("each refusal is reported with its limit and its sender")
  func refusal() throws {
    var configuration = RateLimits.Configuration()
    configuration.requestsPerMinute = 1
    configuration.submissionsPerMinute = 1
    let refusals = Locked<[String]>([])
    let limits = RateLimits(
      configuration, now: { 0 },
      onRefusal: { limit, sender in refusals.withLock { $0.append("\(limit.rawValue): \(sender)") } })
    for _ in 0..<2 {
      try? limits.countRequest(ofKey: "3")
      try? limits.countRequest(of: Self.client)
      try? limits.countSubmission(of: "ada", tenant: "3")
    }
    #expect(refusals.withLock(\.self) == ["requests: key 3", "requests: 127.0.0.1", "submissions: author 3 ada"])
  }

  @Test("the buckets of many names are bounded, and those in use keep what was taken from them")
  func buckets() {
    var buckets = TokenBuckets()
    let rate = RateLimits.Rate(perMinute: 1, burst: 2)
    for _ in 0..<2 { #expect(buckets.take("frequent", rate, now: 0) == nil) }
    for number in 0..<200_000 {
      #expect(buckets.take("\(number)", rate, now: 0) == nil)
      if number % 10_000 == 0 { #expect(buckets.take("frequent", rate, now: 0) != nil) }
    }
    #expect(buckets.younger.count + buckets.older.count <= TokenBuckets.maxCount)
    #expect(buckets.take("frequent", rate, now: 0) != nil)
  }

  @Test("however much is sent of one kind, what was taken of another one stays taken")
  func kinds() throws {
    let limits = RateLimits(RateLimits.Configuration(), now: { 0 })
    for _ in 0..<60 { try limits.countConsoleSignIn(from: Self.client) }
    for number in 0...TokenBuckets.maxCount {
      try limits.countText(1, of: "author \(number)", tenant: "1", from: nil)
      try limits.countSubmission(of: "author \(number)", tenant: "1")
    }
    #expect(throws: Problem.self) { try limits.countConsoleSignIn(from: Self.client) }
  }

  @Test("a bucket fills at its rate up to its capacity")
  func bucket() {
    var bucket = TokenBucket(RateLimits.Rate(perMinute: 60), now: 0)
    for _ in 0..<60 { #expect(bucket.take(now: 0) == nil) }
    #expect(bucket.take(now: 0) == 1)
    #expect(bucket.take(now: 0.5) == 0.5)
    #expect(bucket.take(now: 1) == nil)
    for _ in 0..<60 { #expect(bucket.take(now: 1000) == nil) }
    #expect(bucket.take(now: 1000) != nil)
  }

  private static let asset = Asset(
    id: .now(), role: .poster, type: "image/jpeg", bytes: 1, sha256: "", width: nil, height: nil, duration: nil,
    thumbhash: nil)

  @Test("a signed URL is valid for its path, its time, its secret and its reader only")
  func signedURLs() throws {
    let key = SigningKey(id: 7, secret: [UInt8](repeating: 1, count: 32))
    let reader = MediaURLs.Reader(name: "3", keyHash: "a")
    let now = 1_800_000_000
    let url = MediaURLs(keys: [key], reader: reader, now: now).url(of: Self.asset)
    func verify(
      _ url: String, _ keys: [SigningKey] = [key], reader: MediaURLs.Reader = reader, now: Int = now
    ) throws -> MediaURLs.Validity {
      MediaURLs(keys: keys, reader: reader, now: now).verify(try #require(RequestTarget(url)))
    }
    guard case .valid(let left) = try verify(url) else {
      Issue.record("the URL is not valid")
      return
    }
    #expect(left > 24 * 3600 && left <= MediaURLs.maxLifetime)
    // It stays the same for a day, and then has another day.
    let change = now + left - 24 * 3600
    for time in [change - 24 * 3600, change - 1] {
      #expect(MediaURLs(keys: [key], reader: reader, now: time).url(of: Self.asset) == url)
    }
    #expect(MediaURLs(keys: [key], reader: reader, now: change).url(of: Self.asset) != url)
    #expect(try verify(url, now: now + left) == .expired)
    #expect(try verify(url, [SigningKey(id: 8, secret: key.secret)]) == .invalid)
    #expect(try verify(url, [SigningKey(id: 7, secret: [UInt8](repeating: 2, count: 32))]) == .invalid)
    #expect(try verify(url, reader: .init(name: "3", keyHash: "b")) == .invalid)
    #expect(try verify(url, reader: .init(name: "4", keyHash: "a")) == .invalid)
    #expect(try verify(url.replacing("\(Self.asset.id)", with: "\(PublicID.now())")) == .invalid)
    #expect(try verify(url.replacing("expires=18", with: "expires=19")) == .invalid)
  }

  @Test("the URLs of different assets change at different times of the day")
  func spread() {
    let key = SigningKey(id: 7, secret: [UInt8](repeating: 1, count: 32))
    let urls = MediaURLs(keys: [key], reader: .tokens(of: "ada"), now: 1_800_000_000)
    let times = (0..<100).map { _ in urls.url(ofAsset: .now()).split(separator: "&")[0].suffix(10) }
    #expect(Set(times).count > 90)
  }

  @Test("a URL with an expiry beyond the maximum lifetime is invalid")
  func cap() throws {
    let key = SigningKey(id: 7, secret: [UInt8](repeating: 1, count: 32))
    let reader = MediaURLs.Reader(name: "3", keyHash: "a")
    // Signed with the secret, but three days later.
    let late = MediaURLs(keys: [key], reader: reader, now: 1_800_000_000 + 3 * 86_400).url(of: Self.asset)
    let validity = MediaURLs(keys: [key], reader: reader, now: 1_800_000_000).verify(try #require(RequestTarget(late)))
    #expect(validity == .invalid)
  }
}
