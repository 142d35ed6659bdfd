import HTTPTesting
import Model
import Testing

@testable import Kit
@testable import Rooms

/// The version that a response to a submission has, with the requests of docs/access.md, whose table has all routes.
@Suite("Versions of what was made", .tags(.database, .network), .timeLimit(.minutes(60)))
struct CreatedVersionTests {
  /// The part of a tag that `If-Match` compares; nil: the tag is of JSON alone.
  private static func version(_ tag: String?) -> String? {
    guard let parts = tag?.split(separator: "\"").first?.split(separator: "."), parts.count == 2 else { return nil }
    return String(parts[0])
  }

  @Test("each 201 and 202 has the version of what was made, if that has one")
  func responses() async throws {
    let table = try AccessTable()
    try await RunningAPI.with { api in
      var versioned: Set<String> = []
      for row in table.rows where ["POST", "PUT"].contains(row.method) {
        guard let status = row.responses[.key]?.first, ["201", "202"].contains(status) else { continue }
        let fixture = try await AccessFixture(api, visibility: .public)
        let sent = fixture.request(row, author: "ada")
        let type = sent.type.map { [("Content-Type", $0)] } ?? []
        let made = try await request(
          row.method, sent.path, port: api.port, headers: type + sent.headers, body: sent.body)
        guard let location = made.headers["location"] else { continue }
        let read = try await api.get(location)
        guard read.status == 200, let version = Self.version(read.headers["etag"]) else { continue }
        // The link of a collection is no version of it.
        guard row.template != "/v1/collections/{id}/link" else { continue }
        #expect(made.headers["etag"]?.contains(version) == true, "\(row.method) \(row.template)")
        versioned.insert(row.template)
      }
      let expected = [
        "/v1/posts", "/v1/posts/{id}/comments", "/v1/places/{id}/comments", "/v1/collections/{id}/comments",
        "/v1/posts/{id}/reactions", "/v1/collections", "/v1/collections/{id}/thumbnail", "/v1/webhooks",
      ]
      #expect(versioned.isSuperset(of: expected), "\(versioned.sorted())")
    }
  }

  @Test("a change follows a submission without a read between them, also after its repetition")
  func change() async throws {
    try await UserClient.with { api in
      let trip = #"{"kind":"itinerary","name":"Berlin","author":"ada"}"#
      var tags: [String?] = []
      var path = ""
      for _ in 0..<2 {
        let made = try await UserClient.send(
          "POST", "/v1/collections", UserClient.backend + [("Idempotency-Key", "trip")], trip, api)
        #expect(made.status == 201)
        tags.append(made.headers["etag"])
        path = try #require(made.headers["location"])
      }
      let tag = try #require(tags[0])
      #expect(tags[1] == tag)
      var statuses: [Int] = []
      for _ in 0..<2 {
        let changed = try await UserClient.send(
          "PATCH", path, UserClient.backend + [("If-Match", tag)], #"{"name":"Tour"}"#, api)
        statuses.append(changed.status)
      }
      #expect(statuses == [200, 412])
    }
  }
}
