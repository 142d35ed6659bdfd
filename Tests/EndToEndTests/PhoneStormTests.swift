import Glibc
import HTTPClient
import HTTPTesting
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing
import WaitTesting

/// Sixteen phones that use the same places, collections and posts at once, while the service and its database are killed.
@Suite("A storm of phones", .tags(.process), .serialized, .timeLimit(.minutes(60)))
struct PhoneStormTests {
  private static let users = (0..<16).map { "phone\($0)" }
  private static let steps = 60
  private static let places = ["lake", "gate", "hut"]

  /// What ends in the middle.
  enum Crash: CaseIterable {
    case none, service, database
  }

  /// What the phones share.
  private struct Scene: Sendable {
    var tokens: [String: String] = [:]
    var posts: [String] = []
    var collections: [String] = []
  }

  @Test(
    "sixteen phones rate, order, invite, answer, edit and move posts: the counts are right", arguments: Crash.allCases)
  func storm(crash: Crash) async throws {
    let folder = try TemporaryFolder(prefix: "take5-phones")
    var service = try await Self.service(in: folder)
    let scene = try await Self.prepare(service)
    let process = try #require(await service.process.process)
    let done = Shared(0)
    let statuses = await Self.run(service, scene) {
      guard
        done.withLock({ done in
          done += 1; return done
        }) == Self.users.count * Self.steps / 2
      else { return }
      switch crash {
      case .none: break
      case .service: kill(process, SIGKILL)
      case .database: for server in RunningTake5.children(of: process, named: "-D") { kill(server, SIGKILL) }
      }
    }
    if crash == .none { #expect(statuses.allSatisfy { $0 < 500 }, "\(Set(statuses))") }
    #expect(Set(statuses).isSuperset(of: [200, 204]))
    if crash == .service {
      #expect(await service.process.wait() == nil)
      service = try await Self.service(in: folder)
    }
    try await until { try await service.get("/readyz").status == 200 }
    try await Self.check(service)
    let later = await Self.run(service, scene) {}
    #expect(later.allSatisfy { $0 < 500 }, "\(Set(later))")
    try await Self.check(service)
    #expect(try await service.stop() == 0)
  }

  private static func service(in folder: TemporaryFolder) async throws -> Service {
    try await Service(workers: 0, ["--accounts", "on"], environment: ["TAKE5_API_KEY": "storm"], in: folder)
  }

  private static func prepare(_ service: Service) async throws -> Scene {
    let api = try service.api(key: "storm")
    var scene = Scene()
    for (index, user) in users.enumerated() {
      let phone = try await api.phone(of: user)
      let minted = try await api.send("POST", "/v1/users/\(user)/tokens", "{}")
      scene.tokens[user] = try #require(minted["token"]?.text)
      guard index < 4 else { continue }
      let place = places[index % places.count]
      let post = try await phone.send(
        "POST", "/v1/posts", #"{"kind":"marker","title":"Here","visibility":"friends","place":{"id":"\#(place)"}}"#)
      scene.posts.append(try #require(post["id"]?.text))
      let trip = try await phone.send(
        "POST", "/v1/collections",
        #"{"kind":"itinerary","name":"Trip","visibility":"public","items":[{"place":"\#(place)"}]}"#)
      scene.collections.append(try #require(trip["id"]?.text))
    }
    return scene
  }

  /// Lets all phones act at once until they are done or the connection fails; returns the statuses of all responses.
  private static func run(
    _ service: Service, _ scene: Scene, _ onStep: @escaping @Sendable () -> Void
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
            let request = Self.request(of: user, scene, random)
            let headers = [("Authorization", "Bearer \(scene.tokens[user] ?? "")"), ("If-Match", "*")]
            do {
              let response = try await HTTPTesting.request(
                request.method, request.path, port: port,
                headers: headers.dropLast(request.method == "PATCH" ? 0 : 1)
                  + (request.json == nil ? [] : [("Content-Type", "application/json")]),
                body: request.json.map { Array($0.utf8) })
              statuses.append(response.status)
            } catch {
              return statuses
            }
            onStep()
          }
          return statuses
        }
      }
      return await group.reduce(into: []) { $0 += $1 }
    }
  }

  /// What a phone does next.
  private static func request(
    of user: String, _ scene: Scene, _ random: (Int) -> Int
  ) -> (method: String, path: String, json: String?) {
    let (place, other) = (places[random(places.count)], users[random(users.count)])
    let (post, trip) = (scene.posts[random(scene.posts.count)], scene.collections[random(scene.collections.count)])
    let member = "/v1/collections/\(trip)/members"
    switch random(19) {
    case 0, 1: return ("PUT", "/v1/users/me/ratings/\(place)", #"{"rating":\#(1 + random(5))}"#)
    case 2: return ("DELETE", "/v1/users/me/ratings/\(place)", nil)
    case 3, 4: return ("PUT", "/v1/users/me/favourites/\(place)", nil)
    case 5: return ("PUT", "/v1/users/me/favourites", #"{"places":["\#(place)"]}"#)
    case 6: return ("DELETE", "/v1/users/me/favourites/\(place)", nil)
    case 7, 8: return ("PUT", "\(member)/\(other)", #"{"role":"viewer","invite":true}"#)
    case 9: return ("PUT", "\(member)/me", #"{"state":"accepted"}"#)
    case 10: return ("PUT", "\(member)/me", #"{"state":"declined"}"#)
    case 11: return ("PATCH", "/v1/collections/\(trip)", #"{"items":[{"place":"\#(place)"}]}"#)
    case 12: return ("POST", "/v1/posts/\(post)/comments", #"{"text":"Nice"}"#)
    case 13: return ("PUT", "/v1/users/me/friends/\(other)", nil)
    case 15, 16:
      let visibility = ["public", "friends", "private"][random(3)]
      return (
        "PATCH", "/v1/posts/\(post)", #"{"visibility":"\#(visibility)","place":{"id":"\#(place)","name":"\#(place)"}}"#
      )
    case 17: return ("DELETE", "/v1/users/me/friends/\(other)", nil)
    case 14: return ("PATCH", "/v1/users/me", #"{"bio":"\#(random(100))"}"#)
    default: return ("GET", "/v1/users/me/feed?include=author,mine,place", nil)
    }
  }

  private static func check(_ service: Service) async throws {
    #expect(try await service.count("SELECT count(*)::int FROM place WHERE favourite_count > 0") > 0)
    #expect(
      try await service.count(
        "SELECT count(*)::int FROM place WHERE favourite_count <> (SELECT count(*) FROM relation WHERE kind = 'favourite' AND target = place.id)"
      ) == 0)
    #expect(
      try await service.count(
        "SELECT count(*)::int FROM collection WHERE member_count <> (SELECT count(*) FROM collection_member AS member WHERE member.collection_id = collection.id AND member.state = 'accepted')"
      ) == 0)
    let verified = try await Take5Command.run(["verify", "--data", service.data])
    #expect(verified.status == 0, "\(verified.output)\(verified.errors)")
  }
}
