import Crypto
import HTTPServer
import HTTPTesting
import Model
import Postgres
import Store
import Testing

@testable import ControlAPI

@Suite(.tags(.database, .network), .timeLimit(.minutes(10)))
struct AccessTests {
  @Test(
    "the operator's key admits to everything, and nothing else does",
    arguments: [
      ("Bearer s3cret-key", true), ("bearer s3cret-key", true), ("Bearer   s3cret-key", true), ("", false),
      ("Bearer", false), ("Bearer ", false), ("Bearer s3cret-kez", false), ("Bearer s3cret-key2", false),
      ("Basic s3cret-key", false), ("s3cret-key", false),
    ])
  func operatorKey(value: String, isAdmitted: Bool) throws {
    let access = AccessControl(operatorKey: "s3cret-key", limits: RateLimits(.init()) { 0 }, now: { 0 })
    let target = try #require(RequestTarget("/v1/posts"))
    let admitted = (try? access.admit("POST", target, ["Authorization": value])) != nil
    #expect(admitted == isAdmitted)
  }

  @Test("every request needs the key, but for what watches over the service")
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
      #expect(try await api.remains() == 0)
      #expect(try await api.submit(.moment(), headers: [("Authorization", "Bearer k1")]).status == 202)
    }
  }

  @Test("a stored key admits to its scopes until it is revoked")
  func storedKeys() async throws {
    try await RunningAPI.with { api in
      let id = try await api.pool.run { [store = api.store] session in
        try store.keep(
          keyNamed: "app", hash: SHA256.digest(of: Array("t5-reader".utf8)).bytes, scopes: [.read], session)
      }
      #expect(try await api.get("/v1/posts").status == 200, "nobody knows of it yet")
      try await api.access.refresh(api.store, api.pool)
      #expect(try await api.get("/v1/posts").status == 401)
      let key = [("Authorization", "Bearer t5-reader")]
      #expect(try await api.get("/v1/posts", headers: key).status == 200)
      let refused = try await api.submit(.moment(), headers: key)
      #expect(refused.status == 403)
      #expect(refused.json["type"] == .string("urn:take5:problem:forbidden"))
      let isRevoked = try await api.pool.run { [store = api.store] session in try store.revoke(key: id, session) }
      #expect(isRevoked)
      try await api.access.refresh(api.store, api.pool)
      #expect(!api.access.needsKey)
    }
  }

  @Test("who asks too often is told when to come again")
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
    }
  }

  @Test("a bucket fills at its rate, never beyond its size")
  func bucket() {
    var bucket = TokenBucket(perMinute: 60, now: 0)
    for _ in 0..<60 { #expect(bucket.take(now: 0) == nil) }
    #expect(bucket.take(now: 0) == 1)
    #expect(bucket.take(now: 0.5) == 0.5)
    #expect(bucket.take(now: 1) == nil)
    #expect(bucket.isFull(now: 61.1))
    for _ in 0..<60 { #expect(bucket.take(now: 1000) == nil) }
    #expect(bucket.take(now: 1000) != nil)
  }

  @Test("a signed URL is good for its path, its time and its key alone")
  func signedURLs() throws {
    let key = SigningKey(id: 7, secret: [UInt8](repeating: 1, count: 32))
    let asset = Asset(
      id: .now(), role: .poster, type: "image/jpeg", bytes: 1, sha256: "", width: nil, height: nil, duration: nil,
      thumbhash: nil)
    let urls = MediaURLs(keys: [key], now: 1_800_000_000)
    let url = urls.url(of: asset)
    func judge(_ url: String, _ keys: [SigningKey], now: Int) throws -> MediaURLs.Judgement {
      MediaURLs(keys: keys, now: now).judge(try #require(RequestTarget(url)))
    }
    let left = MediaURLs.lifetime + 3600
    #expect(try judge(url, [key], now: 1_800_000_000) == .valid(secondsLeft: left))
    #expect(MediaURLs(keys: [key], now: 1_800_003_599).url(of: asset) == url)
    #expect(try judge(url, [key], now: 1_800_000_000 + left) == .expired)
    #expect(try judge(url, [SigningKey(id: 8, secret: key.secret)], now: 1_800_000_000) == .wrong)
    #expect(try judge(url, [SigningKey(id: 7, secret: [UInt8](repeating: 2, count: 32))], now: 1_800_000_000) == .wrong)
    let other = url.replacing("\(asset.id)", with: "\(PublicID.now())")
    #expect(try judge(other, [key], now: 1_800_000_000) == .wrong)
    #expect(try judge(url.replacing("expires=18", with: "expires=19"), [key], now: 1_800_000_000) == .wrong)
  }
}
