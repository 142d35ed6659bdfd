import FoundationEssentials
import Push
import Testing

@Suite("Requests to providers")
struct RequestTests {
  private let id = UUID(uuidString: "EABEAE54-14A8-11E5-B60B-1697F925EC7B") ?? UUID()
  private let token = String(repeating: "0a", count: 32)
  private let now = 2_000_000_000 - 60

  @Test("a request to Apple has the fields and the payload of its documentation")
  func apns() async throws {
    let apns = try await CredentialsFixture().apns()
    let request = try apns.request(for: .sample, to: .apns(token), id: id, now: now)
    #expect("\(request.origin)\(request.path)" == "https://api.push.apple.com/3/device/\(token)")
    let expected = [
      "apns-topic": "com.example.take5", "apns-push-type": "alert", "apns-priority": "10",
      "apns-id": "eabeae54-14a8-11e5-b60b-1697f925ec7b", "apns-expiration": "2000000000",
      "apns-collapse-id": "window-1",
    ]
    #expect(Dictionary(uniqueKeysWithValues: request.fields.map { ($0.name, $0.value) }) == expected)
    #expect(
      request.text
        == #"{"aps":{"alert":{"body":"You have 5 minutes.","title":"Time to film"},"badge":2,"mutable-content":1,"#
        + #""sound":"default"},"data":{"post":"1"},"kind":"window","media_url":"https://cdn.example.org/a.jpg"}"#)

    var plain = Notification.sample
    (plain.mediaURL, plain.badge, plain.collapseID, plain.priority) = (nil, nil, nil, .normal)
    let second = try apns.request(for: plain, to: .apns(token), id: id, now: now)
    #expect(second["apns-priority"] == "5" && second["apns-collapse-id"] == nil)
    #expect(!second.text.contains("mutable-content") && !second.text.contains("badge"))
    plain.collapseID = String(repeating: "ä", count: 40)
    let third = try apns.request(for: plain, to: .apns(token), id: id, now: now)
    #expect(third["apns-collapse-id"].map { 1...64 ~= $0.utf8.count && $0.utf8.allSatisfy { $0 < 0x7F } } == true)
  }

  @Test("a request to Google has a message with the settings of Android and Apple")
  func fcm() async throws {
    let fcm = try await CredentialsFixture().fcm()
    let request = try fcm.request(for: .sample, to: .fcm("a:b"), id: id, now: now)
    #expect("\(request.origin)\(request.path)" == "https://fcm.googleapis.com/v1/projects/take5-test/messages:send")
    #expect(
      request.text
        == #"{"message":{"android":{"collapse_key":"window-1","notification":{"channel_id":"window","notification_count":2,"tag":"window-1"},"#
        + #""priority":"HIGH","ttl":"60s"},"apns":{"headers":{"apns-collapse-id":"window-1","#
        + #""apns-expiration":"2000000000","apns-priority":"10"},"#
        + #""payload":{"aps":{"badge":2,"mutable-content":1,"sound":"default"}}},"data":{"kind":"window","post":"1"},"#
        + #""notification":{"body":"You have 5 minutes.","image":"https://cdn.example.org/a.jpg","title":"Time to film"},"#
        + #""token":"a:b"}}"#)
  }

  @Test("what is grouped, or of no use later, says so, and what is silent has nothing to show")
  func styles() async throws {
    let credentials = try await CredentialsFixture()
    let (apns, fcm) = (try credentials.apns(), try credentials.fcm())
    func text(_ style: Notification.Style, of provider: any Provider, _ device: Device) throws -> (PushRequest, String)
    {
      var notification = Notification.sample
      (notification.style, notification.thread, notification.isTimeSensitive) = (style, "post-1", true)
      let request = try provider.request(for: notification, to: device, id: id, now: now)
      return (request, request.text)
    }
    let (alert, shown) = try text(.alert, of: apns, .apns(token))
    #expect(alert["apns-push-type"] == "alert" && shown.contains(#""interruption-level":"time-sensitive""#))
    #expect(shown.contains(#""thread-id":"post-1""#))
    let (background, silent) = try text(.silent, of: apns, .apns(token))
    #expect(background["apns-push-type"] == "background" && background["apns-priority"] == "5")
    #expect(silent.hasPrefix(#"{"aps":{"content-available":1},"data""#), "\(silent)")
    let (_, data) = try text(.data, of: fcm, .fcm("a"))
    #expect(data.contains(#""android":{"priority":"HIGH","ttl":"60s"}"#), "\(data)")
    #expect(
      data.contains(#""data":{"badge":"2","body":"You have 5 minutes.","kind":"window","media_url":"https://cdn."#))
    #expect(data.contains(#""alert":{"body":"You have 5 minutes.","title":"Time to film"}"#))
    #expect(!data.contains("collapse_key"))
    let (_, nothing) = try text(.silent, of: fcm, .fcm("a"))
    #expect(nothing.contains(#""payload":{"aps":{"content-available":1}}"#))
    #expect(nothing.contains(#""data":{"kind":"window","post":"1","tag":"window-1"}"#))
    #expect(!nothing.contains("Time to film") && nothing.contains(#""apns-push-type":"background""#))
  }

  @Test("a device token of Apple's is sent to where it is valid, and others to where the credentials say")
  func environments() async throws {
    let credentials = try await CredentialsFixture()
    for (own, other) in [("production", "development"), ("development", "production")] {
      let apns = try credentials.apns(["environment": own])
      func host(_ environment: APNs.Environment?) throws -> String {
        try apns.request(for: .sample, to: .apns(token, environment), id: id, now: now).origin.host
      }
      let (ownHost, otherHost) = (
        try host(APNs.Environment(rawValue: own)), try host(APNs.Environment(rawValue: other))
      )
      #expect(try host(nil) == ownHost && ownHost != otherHost)
      #expect(Set([ownHost, otherHost]) == ["api.push.apple.com", "api.sandbox.push.apple.com"])
    }
  }

  @Test("a request to a push service has the fields of RFC 8030")
  func webPush() async throws {
    let webPush = try await CredentialsFixture().webPush()
    let subscription = try Device.Subscription(
      endpoint: "https://push.example.net/p?q", p256dh: webPush.publicKey, auth: "BTBZMqHH6r4Tts7J_aSIgg")
    var notification = Notification.sample
    notification.collapseID = "friend_posted/1"
    let request = try webPush.request(for: notification, to: .webPush(subscription), id: id, now: now)
    #expect("\(request.origin)\(request.path)" == "https://push.example.net/p?q")
    #expect(request["ttl"] == "60" && request["urgency"] == "high" && request["content-encoding"] == "aes128gcm")
    #expect(request["topic"]?.wholeMatch(of: /[A-Za-z0-9_-]{32}/) != nil)
    let second = try webPush.request(for: notification, to: .webPush(subscription), id: id, now: now)
    #expect(second["topic"] == request["topic"] && second.body != request.body)
  }

  @Test("a device of another provider, and one whose token is not one, is refused")
  func devices() async throws {
    let credentials = try await CredentialsFixture()
    let (apns, fcm, webPush) = (try credentials.apns(), try credentials.fcm(), try credentials.webPush())
    let refused: [(any Provider, Device)] = [
      (apns, .fcm("a")), (fcm, .apns(token)), (webPush, .fcm("a")), (apns, .apns("")), (apns, .apns("0a/../0a")),
      (apns, .apns(String(repeating: "0", count: 201))), (fcm, .fcm("")),
      (fcm, .fcm(String(repeating: "a", count: 1025))),
    ]
    for (provider, device) in refused {
      let error = #expect(throws: PushError.self, "\(device)") {
        _ = try provider.request(for: .sample, to: device, id: id, now: now)
      }
      #expect(error?.code == .invalidDevice)
    }
  }

  @Test("a payload has at most 4,096 bytes: body, then title are shortened between characters")
  func sizes() async throws {
    let credentials = try await CredentialsFixture()
    let providers: [(any Provider, Device)] = [
      (try credentials.apns(), .apns(token)), (try credentials.fcm(), .fcm("a")),
    ]
    // A family of 25 bytes, quotes that JSON doubles, and a letter with a combining accent.
    for text in ["👨‍👩‍👧‍👦", "\"", "e\u{301}", "\u{1}"] {
      for (provider, device) in providers {
        var notification = Notification.sample
        notification.body = String(repeating: text, count: 5000)
        let request = try provider.request(for: notification, to: device, id: id, now: now)
        #expect(4096 - 60...4096 ~= request.body.count)
        let shown = try #require(request.text.firstMatch(of: /"body":"(.*?)…"/)?.output.1)
        let escaped = ["\"": "\\\"", "\u{1}": "\\u0001"][text] ?? text
        #expect(shown.replacing(escaped, with: "").isEmpty)
        notification.title = notification.body
        #expect(try provider.request(for: notification, to: device, id: id, now: now).body.count <= 4096)
        notification.data = ["a": String(repeating: "a", count: 4096)]
        let error = #expect(throws: PushError.self) {
          _ = try provider.request(for: notification, to: device, id: id, now: now)
        }
        #expect(error?.code == .notificationTooLarge)
      }
    }
  }
}
