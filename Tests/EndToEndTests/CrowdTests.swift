import Glibc
import HTTPClient
import HTTPTesting
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing

/// Many users who change their relations to the same people and posts at once.
@Suite("Crowds", .tags(.process), .serialized, .timeLimit(.minutes(60)))
struct CrowdTests {
  private static let users = (0..<50).map { "user\($0)" }
  private static let steps = 30

  /// What ends in the middle.
  enum Crash: String, CaseIterable {
    case none
    case service
    case database
  }

  @Test(
    "50 users who like, unlike, befriend, block and delete at once: the counters are right, also after a crash",
    arguments: Crash.allCases)
  func crowd(crash: Crash) async throws {
    let folder = try TemporaryFolder(prefix: "take5-crowd")
    var service = try await Service(workers: 0, in: folder)
    let posts = Shared<[String]>([])
    for user in Self.users {
      let path = try await Self.post(as: user, to: service)
      posts.withLock { $0.append(path) }
    }
    let process = try #require(await service.process.process)
    let done = Shared(0)
    let statuses = await Self.run(service, posts) { _ in
      let count = done.withLock { done in
        done += 1
        return done
      }
      guard count == 400 else { return }
      switch crash {
      case .none: break
      case .service: kill(process, SIGKILL)
      case .database: for server in RunningTake5.children(of: process, named: "-D") { kill(server, SIGKILL) }
      }
    }
    // Without a crash each request has a result of its own; deadlocks would be 503.
    if crash == .none { #expect(statuses.allSatisfy { $0 < 500 }, "\(Set(statuses))") }
    #expect(statuses.contains(200) && statuses.contains(204))
    if crash == .service {
      #expect(await service.process.wait() == nil)
      service = try await Service(workers: 0, in: folder)
    }
    for _ in 0..<20 where try await service.get("/readyz").status != 200 {}
    try await Self.check(service)
    // The crowd goes on as if nothing had happened.
    let later = await Self.run(service, posts) { _ in }
    #expect(later.allSatisfy { $0 < 500 }, "\(Set(later))")
    try await Self.check(service)
    #expect(try await service.stop() == 0)
  }

  private static func send(
    _ method: String, _ path: String, as user: String, body: String? = nil, to port: UInt16
  ) async throws -> ClientResponse {
    let type = body == nil ? [] : [("Content-Type", "application/json")]
    return try await request(
      method, path, port: port, headers: [("Take5-User", user)] + type, body: body.map { Array($0.utf8) })
  }

  private static func post(as user: String, to service: Service) async throws -> String {
    let response = try await send(
      "POST", "/v1/posts", as: user, body: #"{"kind":"marker","title":"Here"}"#, to: service.api().port)
    return try #require(response.headers["location"])
  }

  /// Lets all users act at once until they are done or the connection fails; returns the statuses of all responses.
  private static func run(
    _ service: Service, _ posts: Shared<[String]>, _ onStep: @escaping @Sendable (Int) -> Void
  ) async -> [Int] {
    guard let port = try? service.api().port else { return [] }
    return await withTaskGroup(of: [Int].self) { group in
      for (index, user) in users.enumerated() {
        group.addTask {
          var statuses: [Int] = []
          // A different sequence for each user, the same in each run.
          var state = UInt64(index) &* 0x9E37_79B9_7F4A_7C15 | 1
          func random(_ count: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(count))
          }
          for _ in 0..<steps {
            // A few people and posts have most of the relations.
            let other = users[random(8)]
            let (all, last) = posts.withLock { ($0, $0.count) }
            let post = all[random(min(10, last))].split(separator: "/").last.map(String.init) ?? ""
            let kind = random(12)
            let (method, path): (String, String) =
              switch kind {
              case 0...2: ("PUT", "/v1/users/\(user)/likes/\(post)")
              case 3: ("DELETE", "/v1/users/\(user)/likes/\(post)")
              case 4: ("PUT", "/v1/users/\(user)/bookmarks/\(post)")
              case 5...7: ("PUT", "/v1/users/\(user)/friends/\(other)")
              case 8: ("DELETE", "/v1/users/\(user)/friends/\(other)")
              case 9: ("PUT", "/v1/users/\(user)/blocks/\(other)")
              case 10: ("DELETE", "/v1/users/\(user)/blocks/\(other)")
              default: ("DELETE", "/v1/posts/\(post)")
              }
            do {
              statuses.append(try await send(method, path, as: user, to: port).status)
              if kind == 5 || kind == 6 {
                // The other user accepts.
                let accepted = try await send("PUT", "/v1/users/\(other)/friends/\(user)", as: other, to: port)
                statuses.append(accepted.status)
              }
              if kind == 11 {
                let new = try await send(
                  "POST", "/v1/posts", as: user, body: #"{"kind":"marker","title":"Again"}"#, to: port)
                statuses.append(new.status)
                if let path = new.headers["location"] { posts.withLock { $0.insert(path, at: random($0.count)) } }
              }
            } catch {
              return statuses
            }
            onStep(index)
          }
          return statuses
        }
      }
      return await group.reduce(into: []) { $0 += $1 }
    }
  }

  /// Checks that each counter is the number of the rows that it counts, that no relation has only one side, and that no
  /// friends have blocked each other.
  private static func check(_ service: Service) async throws {
    for (name, query) in [
      (
        "likes",
        "SELECT count(*)::int FROM post WHERE like_count <> (SELECT count(*) FROM relation WHERE target = public_id::text AND kind = 'like')"
      ),
      (
        "friends",
        "SELECT count(*)::int FROM app_user WHERE friends <> (SELECT count(*) FROM relation WHERE user_id = app_user.id AND kind = 'friend')"
      ),
      (
        "posts",
        "SELECT count(*)::int FROM app_user WHERE public_posts <> (SELECT count(*) FROM post WHERE author = app_user.id)"
      ),
      (
        "both",
        "SELECT count(*)::int FROM relation AS own JOIN relation AS other USING (user_id, target) WHERE own.kind = 'friend' AND other.kind <> 'friend'"
      ),
    ] {
      #expect(try await service.count(query) == 0, "\(name)")
    }
    #expect(try await service.count("SELECT count(*)::int FROM relation WHERE kind = 'friend'") > 0)
    #expect(try await service.count("SELECT sum(like_count)::int FROM post") > 0)
    let verified = try await Take5Command.run(["verify", "--data", service.data])
    #expect(verified.status == 0, "\(verified.output)\(verified.errors)")
  }
}
