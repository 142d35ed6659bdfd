import HTTPTesting
import Model
import Postgres
import PostgresTesting
import Push
import Store
import Testing

@testable import Kit
@testable import Rooms

@Suite("The outcomes of notifications", .tags(.database, .network), .timeLimit(.minutes(60)))
struct PushOutcomeTests {
  @Test("what became of a delivery is recorded: it ends, waits, or takes its device along")
  func endings() async throws {
    try await PushFixture.with { api in
      for user in ["ada", "bob", "eve", "kim"] { try await PushFixture.register(user, "", api) }
      try await PushFixture.openWindow(api)
      let due = try await PushFixture.due(api)
      #expect(due.count == 4)
      let later = due[0].expires - 1
      try await api.pool.transaction { session in
        try PushEnding.record(
          [
            PushEnding(due[0], .ended, "delivered"), PushEnding(due[1], until: later, "retried"),
            // It was registered after that.
            PushEnding(due[2], .gone(since: due[2].expires - 7200), "gone"),
            PushEnding(due[3], .gone(since: nil), "gone"),
          ], maxRefusals: 2, session)
      }
      #expect(try await PushFixture.count("device", api) == 3)
      #expect(try await PushFixture.count("push_delivery", api) == 1)
      #expect(try await PushFixture.count("push_delivery WHERE attempts = 1 AND next_at > clock_timestamp()", api) == 1)
      #expect(try await PushFixture.count("device WHERE last_outcome = 'delivered'", api) == 1)
      // The provider reaches the device of eve.
      for left in [3, 2] {
        try await PushFixture.reach(api)
        try await api.pool.transaction { session in
          try PushEnding.record(
            [PushEnding(due[0], .refused, "device_refused"), PushEnding(due[2], .ended, "delivered")], maxRefusals: 2,
            session)
        }
        #expect(try await PushFixture.count("device", api) == left)
      }
      if case .postponed = PushEnding(due[0], until: due[0].expires, "retried").fate {
        Issue.record("what expires is not sent again")
      }
    }
  }

  @Test("what each outcome means for the device and the notification, on each platform")
  func outcomes() async throws {
    let meanings: [(Outcome, counted: String, ofBrowsers: String, fate: String)] = [
      (.delivered(id: "1"), "delivered", "delivered", "ended"),
      (.gone(since: 1), "gone", "gone", "gone"),
      (.deviceRefused("BadDeviceToken"), "device_refused", "device_refused", "refused"),
      (.retry(after: 2, "status 503"), "retried", "retried", "postponed, an attempt"),
      (.unknown("reset"), "unknown", "unknown", "postponed, an attempt"),
      (.credentialsRefused("InvalidProviderToken"), "credentials_refused", "device_refused", "postponed"),
      (.authorizationExpired, "credentials_refused", "device_refused", "postponed"),
      (.refused("PayloadEmpty"), "refused", "refused", "ended"),
      (.expired, "expired", "expired", "ended"),
    ]
    try await PushFixture.with { api in
      try await api.pool.transaction { try Devices.announce([(.apns, nil), (.fcm, nil), (.webPush, nil)], $0) }
      for user in ["ada", "bob", "eve"] { try await PushFixture.register(user, "", api) }
      try await api.pool.run { session in
        _ = try session.execute("UPDATE device SET provider = 'apns' WHERE user_id = 'ada'")
        _ = try session.execute(
          "UPDATE device SET provider = 'web_push', p256dh = '', auth = '' WHERE user_id = 'eve'")
      }
      try await PushFixture.openWindow(api)
      let due = try await PushFixture.due(api)
      #expect(Set(due.map(\.platform)) == Set(RegisteredDevice.Platform.allCases))
      for due in due {
        for meaning in meanings {
          let ending = PushEnding(due, meaning.0, now: due.expires - 200)
          let isBrowser = due.platform == .webPush
          #expect(ending.outcome == (isBrowser ? meaning.ofBrowsers : meaning.counted))
          let fate =
            switch ending.fate {
            case .ended: "ended"
            case .gone: "gone"
            case .refused: "refused"
            case .postponed(_, let isAttempt): isAttempt ? "postponed, an attempt" : "postponed"
            }
          #expect(fate == (isBrowser && meaning.fate == "postponed" ? "refused" : meaning.fate), "\(meaning.0)")
        }
      }
    }
  }

  @Test("a provider that refuses every device takes none along, whether or not it has reached one before")
  func refusedByAll() async throws {
    try await PushFixture.with { api in
      for user in ["ada", "bob"] { try await PushFixture.register(user, "", api) }
      try await PushFixture.reach(api)
      try await PushFixture.openWindow(api)
      let due = try await PushFixture.due(api)
      for outcome in [Outcome.credentialsRefused("revoked"), .authorizationExpired, .deviceRefused("BadDeviceToken")] {
        for _ in 1...4 {
          try await api.pool.transaction { session in
            try PushEnding.record(
              due.map { PushEnding($0, outcome, now: $0.expires - 200) }, maxRefusals: 3, session)
          }
        }
        let waits = outcome != .deviceRefused("BadDeviceToken")
        #expect(try await PushFixture.count("device", api) == 2)
        #expect(try await PushFixture.count("push_delivery WHERE attempts = 0", api) == (waits ? 2 : 0), "\(outcome)")
      }
    }
  }
}
