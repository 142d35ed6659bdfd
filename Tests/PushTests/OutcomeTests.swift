import FoundationEssentials
import Push
import Testing

@Suite("Outcomes of responses")
struct OutcomeTests {
  private func response(_ status: Int, _ body: String = "", _ headers: [String: String] = [:]) -> PushResponse {
    PushResponse(status: status, headers: headers, body: Array(body.utf8))
  }

  /// The rows of docs/push.md, "What providers answer": provider, answers and outcome.
  private static func documented() throws -> [(provider: String, answers: [String], outcome: String)] {
    let root = #filePath.split(separator: "/").dropLast(3).map { "/\($0)" }.joined()
    let text = String(decoding: try Data(contentsOf: URL(filePath: "\(root)/docs/push.md")), as: UTF8.self)
    return text.matches(of: /\n\| `(apns|fcm|web_push)` \| ([^|]+) \| `(\w+)` \|(?=\n)/).map { row in
      (String(row.1), row.2.matches(of: /`([^`]+)`/).map { String($0.1) }, String(row.3))
    }
  }

  @Test("what providers answer is what the document says")
  func table() async throws {
    let credentials = try await CredentialsFixture()
    let providers: [String: any Provider] = try [
      "apns": credentials.apns(), "fcm": credentials.fcm(), "web_push": credentials.webPush(),
    ]
    let rows = try Self.documented()
    #expect(rows.count == 24)
    for (name, answers, expected) in rows {
      for answer in answers {
        let words = answer.split(separator: " ").map(String.init)
        let reason = words.count > 1 ? words[1] : nil
        // Of Google's reasons these are statuses, and the others codes of FcmError.
        let statuses = ["NOT_FOUND", "UNAUTHENTICATED", "PERMISSION_DENIED"]
        let detail = reason.flatMap { statuses.contains($0) ? nil : #"{"errorCode":"\#($0)"}"# } ?? "{}"
        let body =
          name == "fcm"
          ? #"{"error":{"status":"\#(reason ?? "")","details":[\#(detail)]}}"# : #"{"reason":"\#(reason ?? "")"}"#
        let status = try #require(Int(words[0]))
        let outcome = try #require(providers[name]).outcome(of: response(status, reason == nil ? "" : body), now: 0)
        let found =
          switch outcome {
          case .delivered: "delivered"
          case .gone: "gone"
          case .deviceRefused: "device_refused"
          case .authorizationExpired: "renewed"
          case .credentialsRefused: "credentials_refused"
          case .retry: "retried"
          case .refused: "refused"
          case .expired: "expired"
          case .unknown: "unknown"
          }
        #expect(found == expected, "\(name) \(answer)")
      }
    }
  }

  @Test("Apple's responses, by its table of status codes and reasons")
  func apns() async throws {
    let apns = try await CredentialsFixture().apns()
    func outcome(_ status: Int, _ reason: String) -> Outcome {
      apns.outcome(of: response(status, #"{"reason":"\#(reason)"}"#), now: 0)
    }
    #expect(apns.outcome(of: response(200, "", ["apns-id": "a"]), now: 0) == .delivered(id: "a"))
    for reason in ["BadDeviceToken", "DeviceTokenNotForTopic"] {
      #expect(outcome(400, reason) == .deviceRefused(reason))
    }
    for reason in [
      "BadCollapseId", "BadExpirationDate", "BadMessageId", "BadPriority", "DuplicateHeaders", "InvalidPushType",
      "MissingDeviceToken", "PayloadEmpty",
    ] { #expect(outcome(400, reason) == .refused(reason)) }
    for reason in ["BadTopic", "MissingTopic", "TopicDisallowed"] {
      #expect(outcome(400, reason) == .credentialsRefused(reason))
    }
    #expect(outcome(400, "IdleTimeout") == .retry(after: nil, "IdleTimeout"))
    #expect(outcome(403, "ExpiredProviderToken") == .authorizationExpired)
    for reason in [
      "BadCertificate", "BadCertificateEnvironment", "Forbidden", "InvalidProviderToken", "MissingProviderToken",
      "UnrelatedKeyIdInToken", "BadEnvironmentKeyIdInToken",
    ] { #expect(outcome(403, reason) == .credentialsRefused(reason)) }
    #expect(outcome(404, "BadPath") == .refused("BadPath"))
    #expect(outcome(405, "MethodNotAllowed") == .refused("MethodNotAllowed"))
    for reason in ["ExpiredToken", "Unregistered"] { #expect(outcome(410, reason) == .gone(since: nil)) }
    let gone = response(410, #"{"reason":"Unregistered","timestamp":1700000000123}"#)
    #expect(apns.outcome(of: gone, now: 0) == .gone(since: 1_700_000_000))
    #expect(outcome(413, "PayloadTooLarge") == .refused("PayloadTooLarge"))
    for (status, reason) in [
      (429, "TooManyProviderTokenUpdates"), (429, "TooManyRequests"), (500, "InternalServerError"),
      (503, "ServiceUnavailable"), (503, "Shutdown"),
    ] { #expect(outcome(status, reason) == .retry(after: nil, reason)) }
    #expect(apns.outcome(of: response(418, "<html>"), now: 0) == .unknown("status 418"))
  }

  @Test("Google's responses, by its table of error codes")
  func fcm() async throws {
    let fcm = try await CredentialsFixture().fcm()
    func outcome(_ status: Int, _ text: String, _ code: String?, _ more: String = "") -> Outcome {
      let detail = code.map { #"{"@type":"x/google.firebase.fcm.v1.FcmError","errorCode":"\#($0)"}"# } ?? "{}"
      let body = #"{"error":{"code":\#(status),"status":"\#(text)","details":[\#(detail)\#(more)]}}"#
      return fcm.outcome(of: response(status, body), now: 0)
    }
    let accepted = response(200, #"{"name":"projects/p/messages/1"}"#)
    #expect(fcm.outcome(of: accepted, now: 0) == .delivered(id: "projects/p/messages/1"))
    #expect(outcome(404, "NOT_FOUND", "UNREGISTERED") == .gone(since: nil))
    #expect(outcome(404, "NOT_FOUND", nil) == .deviceRefused("NOT_FOUND"))
    #expect(fcm.outcome(of: response(404, "<html>"), now: 0) == .refused("status 404"))
    let inWords = #"""
      {"error":{"code":400,"message":"The registration token is not a valid FCM registration token","status":"INVALID_ARGUMENT",
      "details":[{"@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"INVALID_ARGUMENT"}]}}
      """#
    #expect(fcm.outcome(of: response(400, inWords), now: 0) == .deviceRefused("INVALID_ARGUMENT"))
    #expect(outcome(403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH") == .deviceRefused("SENDER_ID_MISMATCH"))
    #expect(outcome(403, "PERMISSION_DENIED", nil) == .credentialsRefused("PERMISSION_DENIED"))
    #expect(outcome(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT") == .refused("INVALID_ARGUMENT"))
    let violation = #",{"fieldViolations":[{"field":"message.token","description":"…"}]}"#
    #expect(
      outcome(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT", violation) == .deviceRefused("INVALID_ARGUMENT"))
    #expect(
      outcome(401, "UNAUTHENTICATED", "THIRD_PARTY_AUTH_ERROR") == .retry(after: nil, "THIRD_PARTY_AUTH_ERROR"))
    #expect(outcome(401, "UNAUTHENTICATED", nil) == .authorizationExpired)
    #expect(outcome(429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED") == .retry(after: 60, "QUOTA_EXCEEDED"))
    #expect(outcome(500, "INTERNAL", "INTERNAL") == .retry(after: nil, "INTERNAL"))
    #expect(outcome(503, "UNAVAILABLE", "UNAVAILABLE") == .retry(after: nil, "UNAVAILABLE"))
    #expect(fcm.outcome(of: response(301), now: 0) == .unknown("status 301"))
  }

  @Test("responses of push services, by RFC 8030")
  func webPush() async throws {
    let webPush = try await CredentialsFixture().webPush()
    func outcome(_ status: Int) -> Outcome { webPush.outcome(of: response(status), now: 0) }
    #expect(webPush.outcome(of: response(201, "", ["location": "/m/1"]), now: 0) == .delivered(id: "/m/1"))
    #expect(outcome(404) == .gone(since: nil) && outcome(410) == .gone(since: nil))
    #expect(outcome(401) == .authorizationExpired && outcome(403) == .credentialsRefused("status 403"))
    for status in [400, 413, 415] { #expect(outcome(status) == .refused("status \(status)")) }
    for status in [406, 429, 500, 503] { #expect(outcome(status) == .retry(after: nil, "status \(status)")) }
    for status in [301, 302, 307, 308] {
      #expect(outcome(status) == .deviceRefused("status \(status): redirects are not followed"))
    }
    #expect(outcome(599) == .unknown("status 599"))
  }

  @Test(
    "Retry-After is a number of seconds or a date, at most a day",
    arguments: [
      ("0", 0), ("120", 120), ("100000", 86_400), ("-1", nil), ("soon", nil), ("", nil),
      ("Sun, 06 Nov 1994 08:49:37 GMT", 37), ("Sun, 06 Nov 1994 08:48:00 GMT", 0),
      ("Mon, 07 Nov 1994 08:49:01 GMT", 86_400), ("Sunday, 06-Nov-94 08:49:37 GMT", nil),
      ("Sun, 06 Nov 9999 08:49:37 GMT", 86_400), ("Sun, 06 Xyz 1994 08:49:37 GMT", nil),
    ] as [(String, Int?)])
  func retryAfter(text: String, seconds: Int?) async throws {
    let webPush = try await CredentialsFixture().webPush()
    // 1994-11-06 08:49:00 UTC.
    let outcome = webPush.outcome(of: response(503, "", ["retry-after": text]), now: 784_111_740)
    #expect(outcome == .retry(after: seconds, "status 503"))
  }
}
