import HTTPTesting
import Model
import Postgres
import PostgresTesting
import Testing
import WaitTesting

@testable import Rooms

@Suite("Reactions", .tags(.database, .network), .timeLimit(.minutes(60)))
struct ReactionTests {
  /// What hides a post from a user who sees it.
  enum Change: CaseIterable {
    case block, endOfFriendship, hiding

    func send(_ post: String, _ api: RunningAPI) async throws -> ClientResponse {
      let ada = UserClient.backend + [("Take5-User", "ada")]
      return switch self {
      case .block: try await UserClient.send("PUT", "/v1/users/ada/blocks/bob", ada, nil, api)
      case .endOfFriendship: try await UserClient.send("DELETE", "/v1/users/ada/friends/bob", ada, nil, api)
      case .hiding:
        try await UserClient.send(
          "POST", "/v1/moderation/cases", [("Authorization", "Bearer t5-moderator")],
          #"{"post":"\#(post.split(separator: "/").last ?? "")","decision":"hide"}"#, api)
      }
    }
  }

  @Test("a reaction to a post that is hidden meanwhile is answered as one that comes later", arguments: Change.allCases)
  func hiddenMeanwhile(change: Change) async throws {
    try await UserClient.with { api in
      _ = try await api.createKey("t5-moderator", [.moderate])
      for (user, path, body) in [
        ("ada", "ada", "{}"), ("bob", "bob", "{}"), ("ada", "ada/friends/bob", nil), ("bob", "bob/friends/ada", nil),
      ] {
        let credential = UserClient.backend + [("Take5-User", user)]
        try #require(try await UserClient.send("PUT", "/v1/users/\(path)", credential, body, api).status == 200)
      }
      let post = try await UserClient.post(api, change == .endOfFriendship ? "friends" : "public")
      let react = { @Sendable in
        try await request(
          "POST", "\(post)/reactions", port: api.port,
          headers: UserClient.backend + [("Take5-User", "bob"), ("Content-Type", "image/jpeg")],
          body: PhotoSubmissionTests.jpeg)
      }
      // The request has found the post when it inserts the definition of its job.
      let reaction = try await api.whileLocked("definition", in: "SHARE MODE") {
        let reaction = Task { try await react() }
        try await until { try await api.waitingStatements() != 0 }
        #expect(try await 200..<300 ~= change.send(post, api).status)
        return reaction
      }
      let refused = try await reaction.value
      #expect(refused.status == 404 && UserClient.kind(refused) == "post_not_found")
      let later = try await react()
      #expect(later.status == refused.status && later.json["detail"] == refused.json["detail"])
      let rows: Int = try await api.pool.run { session in
        try session.execute("SELECT (SELECT count(*) FROM image) + (SELECT count(*) FROM job) AS rows").single()
          .get("rows")
      }
      #expect(rows == 0)
    }
  }
}
