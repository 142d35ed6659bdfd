import HTTPTesting
import Model
import Postgres
import Testing

@testable import Kit
@testable import Rooms

@Suite("Ratings of places", .tags(.database, .network), .timeLimit(.minutes(60)))
struct PlaceRatingTests {
  private static func rate(_ rating: String, by user: String, _ api: RunningAPI) async throws -> ClientResponse {
    try await UserClient.send(api, "PUT", "/v1/users/\(user)/ratings/lake", as: user, #"{"rating":\#(rating)}"#)
  }

  @Test("each user rates a place once, and everybody sees the mean")
  func mean() async throws {
    try await UserClient.with { api in
      #expect(try await Self.rate("4", by: "ada", api).status == 404)
      _ = try await UserClient.send(api, "PUT", "/v1/places/lake", #"{"name":"Lake","rating":3}"#)
      func shown(_ user: String?) async throws -> JSONValue {
        let place = try await UserClient.send(api, "GET", "/v1/places/lake", as: user).json
        #expect(place["rating"] == .number(3))
        let listed = try await UserClient.send(api, "GET", "/v1/places?id=lake", as: user).json["items"][0]
        #expect(listed["ratings"] == place["ratings"])
        return place["ratings"]
      }
      func ratings(_ mean: Double?, _ count: Double, _ own: Double?) -> JSONValue {
        .object([
          "mean": mean.map { .number($0) } ?? .null, "count": .number(count), "own": own.map { .number($0) } ?? .null,
        ])
      }
      #expect(try await shown("ada") == ratings(nil, 0, nil))
      let first = try await Self.rate("2", by: "ada", api)
      #expect(first.status == 200 && first.json["rating"] == .number(2) && first.json["place"].text == "lake")
      #expect(try await Self.rate("4.5", by: "ada", api).status == 200)
      #expect(try await Self.rate("3.5", by: "bob", api).status == 200)
      #expect(try await shown("ada") == ratings(4, 2, 4.5))
      #expect(try await shown(nil) == ratings(4, 2, nil))
      // A block changes nothing.
      _ = try await UserClient.send(api, "PUT", "/v1/users/ada/blocks/bob", as: "ada")
      #expect(try await shown("ada") == ratings(4, 2, 4.5))
      for wrong in ["0.5", "5.5", "4.25", "\"5\"", "null"] {
        let refused = try await Self.rate(wrong, by: "bob", api)
        #expect(refused.status == 400 && refused.json["errors"][0]["field"].text == "rating", "\(wrong)")
      }
      let path = "/v1/users/ada/ratings/lake"
      let own = try await UserClient.send(api, "GET", path, as: "ada")
      let version = try #require(own.headers["etag"])
      #expect(try await UserClient.send(api, "GET", path, as: "bob").status == 403)
      let list = try await UserClient.send(api, "GET", "/v1/users/ada/ratings", as: "ada").json["items"].elements
      #expect(list == [own.json])
      let outdated = [("If-Match", version)]
      #expect(try await Self.rate("5", by: "ada", api).status == 200)
      #expect(try await UserClient.send(api, "DELETE", path, as: "ada", nil, outdated).status == 412)
      #expect(try await UserClient.send(api, "DELETE", path, as: "ada").status == 204)
      let gone = try await UserClient.send(api, "DELETE", path, as: "ada")
      #expect(gone.status == 404 && UserClient.kind(gone) == "rating_not_found")
      #expect(try await shown("ada") == ratings(3.5, 1, nil))
    }
  }

  @Test("ratings and their ends at the same time are all counted")
  func storm() async throws {
    try await UserClient.with { api in
      _ = try await UserClient.send(api, "PUT", "/v1/places/lake", #"{"name":"Lake"}"#)
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for user in 1...8 {
          for rating in ["1", "4.5"] {
            group.addTask { try await Self.rate(rating, by: "user\(user)", api).status }
          }
          group.addTask {
            let path = "/v1/users/user\(user)/ratings/lake"
            return try await UserClient.send(api, "DELETE", path, as: "user\(user)").status
          }
        }
        return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
      }
      #expect(statuses.isSubset(of: [200, 204, 404]))
      let shown = try await UserClient.send(api, "GET", "/v1/places/lake").json["ratings"]
      let rows = try await api.pool.run { session in
        let row = try session.execute(
          "SELECT count(*) AS ratings, coalesce(avg(halves) / 2, 0)::float8 AS mean FROM place_rating"
        )
        .single()
        return (ratings: try row.get("ratings", as: Int.self), mean: try row.get("mean", as: Double.self))
      }
      #expect(shown["count"] == .number(Double(rows.ratings)))
      if case .number(let mean) = shown["mean"] { #expect(abs(mean - rows.mean) < 1e-9) }
    }
  }
}
