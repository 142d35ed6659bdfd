import HTTPTesting
import Model
import Postgres
import Store
import Testing

@testable import Rooms

@Suite("Guest books", .tags(.database, .network), .timeLimit(.minutes(5)))
struct GuestBookTests {
  private static func wrong(_ api: RunningAPI) async throws -> Int {
    try await api.pool.run { session in
      let check = try #require(GuestBook.checks.first)
      return try session.execute(check.statement, .text(""), .integer(100)).count {
        try $0.get("code", as: String?.self) != nil
      }
    }
  }

  @Test("an entry is added, listed, counted, reported, hidden, exported and deleted, and goes with its author")
  func life() async throws {
    try await ModerationTests.with { api in
      let send = ModerationTests.send
      let place = try await send(api, "PUT", "/v1/places/lake", "ada", #"{"name":"The lake"}"#)
      #expect(place.status == 200 || place.status == 201, "\(place.text)")
      var paths: [String] = []
      for user in ["ada", "bob", "eve"] {
        let added = try await send(api, "POST", "/v1/places/lake/guestbook", user, #"{"text":"We were here."}"#)
        #expect(added.status == 201 && added.json["author"].text == user, "\(added.text)")
        paths.append(try #require(added.headers["location"]))
      }
      func authors(_ user: String) async throws -> [String?] {
        try await send(api, "GET", "/v1/places/lake/guestbook", user, nil).json["items"].elements.map {
          $0["author"].text
        }
      }
      func count() async throws -> Int {
        try await api.pool.run { try GuestBook.list(of: "lake", for: .unrestricted, PageRequest(), $0).entries }
      }
      #expect(try await authors("bob") == ["eve", "bob", "ada"])
      #expect(try await count() == 3)
      #expect(try await send(api, "GET", "/v1/places/none/guestbook", "bob", nil).status == 404)
      #expect(try await send(api, "DELETE", paths[0], "bob", nil).status == 403)
      // Reported and hidden.
      let entry = ModerationTests.id(paths[2])
      let report = try await send(api, "POST", "/v1/reports", "bob", #"{"entry":"\#(entry)","reason":"spam"}"#)
      #expect(report.status == 201 && report.json["entry"].text == entry, "\(report.text)")
      let cases = try await ModerationTests.cases(api)
      #expect(cases.map { $0["url"].text } == [paths[2]] && cases.map { $0["author"].text } == ["eve"])
      try await ModerationTests.decide(api, #""entry":"\#(entry)""#, "hide")
      #expect(try await authors("bob") == ["bob", "ada"])
      #expect(try await authors("eve") == ["eve", "bob", "ada"])
      #expect(try await count() == 2)
      // Exported and forgotten.
      let page = try await api.pool.run { session in
        try #require(GuestBook.exports.first).page(of: "eve", after: 0, limit: 10, session).items.count
      }
      #expect(page == 1)
      let job = try await api.pool.transaction { try Forgetting.start("bob", request: nil, $0, check: { _ in }).job }
      while try await api.pool.transaction({ try Forgetting.forgetBatch(ofJob: job, in: .all, $0) }) {}
      #expect(try await authors("eve") == ["eve", "ada"])
      #expect(try await count() == 1)
      #expect(try await send(api, "DELETE", paths[0], "ada", nil).status == 204)
      #expect(try await count() == 0)
      // A wrong counter is found and repaired.
      #expect(try await Self.wrong(api) == 0)
      try await api.pool.run { _ = try $0.execute("UPDATE guest_book SET entries = 7") }
      #expect(try await Self.wrong(api) == 1)
      try await api.pool.transaction { session in try GuestBook.checks.first?.repair("lake", session) }
      #expect(try await Self.wrong(api) == 0)
    }
  }
}
