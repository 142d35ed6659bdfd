import HTTPTesting
import Model
import Postgres
import PostgresTesting
import Push
import Store
import Testing

@testable import Kit
@testable import Rooms

@Suite("From an event to a notification", .tags(.database, .network), .timeLimit(.minutes(60)))
struct PushDeliveryTests {
  @Test("a comment is shown in the language of the device, and its badge counts what came since it was registered")
  func comments() async throws {
    try await PushFixture.with { api in
      let post = try await api.insertPost(by: "ada")
      try await api.comment(on: post, by: "eve")
      #expect(try await PushFixture.due(api).isEmpty)
      try await PushFixture.register("ada", #","locale":"de-AT""#, api)
      try await api.comment(on: post, by: "bob")
      try await api.comment(on: post, by: "bob")
      let due = try await PushFixture.due(api)
      let shown = try #require(due.first?.notification)
      #expect(due.count == 2 && shown.title == "bob hat kommentiert" && shown.body == "Nice")
      #expect(Set(due.compactMap { $0.notification?.badge }) == [1, 2])
      #expect(shown.data["post"] == "\(post)" && shown.data["user"] == "bob" && shown.data["comment"] != nil)
      #expect(Set(due.compactMap { $0.notification?.collapseID }).count == 2 && shown.mediaURL == nil)
    }
  }

  @Test("a friend gets a picture that the phone opens, until the author blocks the friend or hides the post")
  func pictures() async throws {
    try await PushFixture.with { api in
      let fixture = try await AccessFixture(api, visibility: .friends)
      try await api.pool.transaction { session in
        for (user, friend) in [("ada", "bob"), ("bob", "ada")] {
          _ = try Relations.relate(user, .friend, to: friend, for: .unrestricted, session)
        }
        try session.execute("UPDATE post SET status = 'ready'")
        try session.execute("DELETE FROM user_event")
        try session.execute("DELETE FROM announcement")
        try session.execute("DELETE FROM device")
      }
      try await PushFixture.register("bob", "", api)
      try await api.pool.transaction { try Events.note(.ready, of: fixture.post, $0) }
      let shown = try #require(try await PushFixture.due(api).first?.notification)
      #expect(shown.kind == "friend_posted" && shown.title == "ada")
      let url = try #require(shown.mediaURL)
      #expect(url.hasPrefix("https://take5.example.org/v1/media/\(fixture.postAsset)?"))
      let path = url.replacing("https://take5.example.org", with: "")
      #expect(try await api.get(path).status == 200)
      #expect(try await api.get(path.replacing("signature=", with: "signature=0")).status == 403)
      for (change, back) in [
        ("SET visibility = 'private'", "SET visibility = 'friends'"),
        ("SET moderation = 'hide'", "SET moderation = NULL"),
      ] {
        try await api.pool.run { _ = try $0.execute("UPDATE post \(change)") }
        let hidden = try await PushFixture.due(api)
        #expect(hidden.count == 1 && hidden[0].notification == nil, "\(change)")
        try await api.pool.run { _ = try $0.execute("UPDATE post \(back)") }
      }
      #expect(try await PushFixture.due(api).first?.notification != nil)
      #expect(try await UserClient.send("PUT", "/v1/users/ada/blocks/bob", UserClient.backend, nil, api).status == 200)
      let blocked = try await PushFixture.due(api)
      #expect(blocked.count == 1 && blocked[0].notification == nil)
    }
  }

  @Test("a window reaches all devices that want it, of providers that a worker sends to, until it closes")
  func windows() async throws {
    try await PushFixture.with { api in
      for user in ["ada", "bob"] { try await PushFixture.register(user, "", api) }
      try await PushFixture.register("eve", #","kinds":["comment"]"#, api)
      let apple = "/v1/users/kim/devices/\(DeviceTests.apple)"
      _ = try await UserClient.send("PUT", apple, UserClient.backend, #"{"platform":"apns"}"#, api)
      try await PushFixture.openWindow(api)
      let due = try await PushFixture.due(api)
      #expect(due.count == 2 && due.allSatisfy { $0.notification?.body == "You have 5 minutes for your moment." })
      #expect(due.allSatisfy { $0.notification?.badge == nil && $0.notification?.priority == .high })
      #expect(Set(due.map(\.expires)).count == 1 && due[0].notification?.expiry == due[0].expires)
      #expect(Set(due.compactMap { $0.notification?.collapseID }).count == 1)
    }
  }

  @Test("in quiet hours a notification waits for their end by the device's own clock")
  func quiet() async throws {
    try await PushFixture.with { api in
      let (from, until): (String, String) = try await api.pool.run { session in
        let row = try session.execute(
          """
          SELECT to_char(local - interval '1 hour', 'HH24:MI') AS start, to_char(local + interval '2 hours', 'HH24:MI') AS stop
          FROM (SELECT clock_timestamp() AT TIME ZONE 'Asia/Kolkata' AS local) AS time
          """
        ).single()
        return (try row.get("start"), try row.get("stop"))
      }
      for (zone, isQuiet) in [("Asia/Kolkata", true), ("America/Los_Angeles", false)] {
        let hours = #","zone":"\#(zone)","quiet_hours":{"from":"\#(from)","until":"\#(until)"}"#
        try await PushFixture.register("ada", hours, api)
        try await PushFixture.openWindow(api)
        let due = try await PushFixture.due(api)
        #expect(due.count == 1 && (due[0].quietEnd != nil) == isQuiet)
        if let end = due[0].quietEnd { #expect(7100...7260 ~= end - due[0].expires + 300) }
        try await api.pool.run { _ = try $0.execute("DELETE FROM device") }
      }
    }
  }

  @Test("comments on one post that had to wait are one notification, with the number of shown comments")
  func folded() async throws {
    try await PushFixture.with { api in
      let (one, other) = (try await api.insertPost(by: "ada"), try await api.insertPost(by: "ada"))
      try await PushFixture.register("ada", "", api)
      for user in ["bob", "eve", "kim"] { try await api.comment(on: one, by: user) }
      try await api.comment(on: other, by: "bob")
      #expect(try await PushFixture.due(api).allSatisfy { !$0.isFolded })
      func changed(_ statement: String) async throws -> [DueDelivery] {
        try await api.pool.run { _ = try $0.execute("\(statement)") }
        return try await PushFixture.due(api)
      }
      let due = try await changed("UPDATE push_delivery SET has_waited = true")
      #expect(due.count { $0.isFolded } == 2)
      #expect(
        due.filter { !$0.isFolded }.compactMap(\.notification?.title).sorted() == ["3 comments", "bob commented"])
      let rest = try await changed("UPDATE comment SET is_hidden = true WHERE author = 'kim'")
      let shown = rest.filter { !$0.isFolded && $0.notification != nil }
      #expect(shown.compactMap(\.notification?.title).sorted() == ["2 comments", "bob commented"])
      #expect(rest.count { $0.notification == nil } == 1)
      // One that is sent again stands for as many.
      let newest = try #require(shown.first { $0.notification?.title == "2 comments" })
      try await api.pool.transaction { session in
        let retried = PushEnding(newest, .retry(after: nil, "status 503"), now: newest.expires - 3600)
        let folded = rest.filter(\.isFolded).map { PushEnding($0, .ended, "folded") }
        try PushEnding.record([retried] + folded, maxRefusals: 3, session)
      }
      let again = try await changed("UPDATE push_delivery SET next_at = clock_timestamp()")
      #expect(again.compactMap(\.notification?.title).sorted() == ["2 comments", "bob commented"])
    }
  }
}
