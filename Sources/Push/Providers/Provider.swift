package import FoundationEssentials
import Model

/// A push service with credentials: what it is sent, and what its responses mean. Pure: nothing here connects.
package protocol Provider: ProviderTraits {
  /// Reads a file of credentials.
  ///
  /// - Parameter origin: in place of the provider's servers, for tests.
  /// - Throws: `invalidCredentials`.
  init(file path: String, origin: Origin?) throws(PushError)

  /// What browsers subscribe with, which they read by `subscriptionKeyName`; nil: it has no such key.
  var subscriptionKey: String? { get }

  /// The server for a device; nil for a device of another provider.
  func origin(of device: Device) -> Origin?

  /// The request that sends a notification to a device, without its authorization.
  func request(
    for notification: Notification, to device: Device, id: UUID, now: Int
  ) throws(PushError) -> PushRequest

  /// What authorizes requests to an origin from now on.
  func authorization(for origin: Origin, now: Int) -> AuthorizationStep

  /// What the response to `AuthorizationStep.fetch` authorizes; nil if it refuses the credentials.
  func authorization(from response: PushResponse, now: Int) -> Authorization?

  func outcome(of response: PushResponse, now: Int) -> Outcome
}

extension Provider {
  package var subscriptionKey: String? { nil }

  package func authorization(from response: PushResponse, now: Int) -> Authorization? { nil }
}

/// The value of an `authorization` field, for some time.
package struct Authorization: Sendable, Hashable {
  package let value: String
  /// The time from which it is valid, in seconds since 1970-01-01 UTC: one of a clock that was ahead is none once the clock is right.
  package let start: Int
  /// The time from which another one is made.
  package let renewal: Int

  /// Whether it authorizes a request.
  func isValid(at now: Int) -> Bool { start <= now && now < renewal }
}

package enum AuthorizationStep: Sendable {
  case ready(Authorization)
  /// A request whose response has the authorization.
  case fetch(PushRequest)
}

/// A POST request over HTTP/2.
package struct PushRequest: Sendable, Hashable {
  package struct Field: Sendable, Hashable {
    package let name: String
    package let value: String
  }

  package let origin: Origin
  package let path: String
  package let fields: [Field]
  package let body: [UInt8]

  init(_ origin: Origin, _ path: String, _ fields: KeyValuePairs<String, String?>, _ body: [UInt8]) {
    self.origin = origin
    self.path = path
    self.fields = fields.compactMap { name, value in value.map { Field(name: name, value: $0) } }
    self.body = body
  }
}

package struct PushResponse: Sendable, Hashable {
  package var status: Int
  /// The header fields, by their names in lowercase.
  package var headers: [String: String]
  package var body: [UInt8]

  package init(status: Int, headers: [String: String] = [:], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The value of Retry-After (RFC 9110, section 10.2.3), in seconds, at most a day.
  func retryAfter(now: Int) -> Int? {
    guard let text = headers["retry-after"] else { return nil }
    if let seconds = Int(text) { return seconds >= 0 ? min(seconds, 86_400) : nil }
    return Self.seconds(ofDate: text).map { min(max(0, $0 - now), 86_400) }
  }

  /// A date such as `Sun, 06 Nov 1994 08:49:37 GMT` in seconds since 1970-01-01 UTC (RFC 9110, section 5.6.7).
  private static func seconds(ofDate text: String) -> Int? {
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let parts = text.split { $0 == " " || $0 == ":" }
    guard parts.map(\.utf8.count) == [4, 2, 3, 4, 2, 2, 2, 3], parts[7] == "GMT", let day = Int(parts[1]),
      let month = months.firstIndex(of: String(parts[2])), let year = Int(parts[3]), let hour = Int(parts[4]),
      let minute = Int(parts[5]), let second = Int(parts[6])
    else { return nil }
    return CivilCalendar.days(year, month + 1, day) * 86_400 + hour * 3600 + minute * 60 + second
  }
}

/// What became of a notification.
package enum Outcome: Sendable, Hashable {
  /// The provider has accepted it, and named it by an id.
  case delivered(id: String?)
  /// The app is no longer on the device.
  ///
  /// - Parameter since: in seconds since 1970-01-01 UTC: a device that was registered later stays.
  case gone(since: Int?)
  /// The device is not one of this app, or of this environment of the provider.
  case deviceRefused(String)
  /// It was not delivered, and may be later.
  case retry(after: Int?, String)
  /// The authorization has expired; another one is made once, and then it is `credentialsRefused`.
  case authorizationExpired
  case credentialsRefused(String)
  /// This notification is never accepted.
  case refused(String)
  /// It expired before it was sent.
  case expired
  /// It may have been delivered.
  case unknown(String)
}

/// A server, by https.
package struct Origin: Sendable, Hashable, CustomStringConvertible {
  static let maxBytes = 2048

  package let host: String
  package let port: UInt16

  package init(host: String, port: UInt16 = 443) {
    self.host = host
    self.port = port
  }

  /// Splits an https URL into its origin and its path; nil for another URL, and for one with a user or a fragment.
  package static func split(_ url: String) -> (Origin, path: String)? {
    let scheme = "https://"
    guard url.utf8.count <= maxBytes, url.utf8.starts(with: scheme.utf8),
      url.utf8.allSatisfy({ 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "\\") && $0 != UInt8(ascii: "#") })
    else { return nil }
    let rest = url.dropFirst(scheme.count)
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    let path = rest[authority.endIndex...]
    var host = authority[...]
    var port: UInt16 = 443
    if authority.first == "[" {
      guard let end = authority.firstIndex(of: "]") else { return nil }
      host = authority[..<authority.index(after: end)]
    } else if let colon = authority.firstIndex(of: ":") {
      host = authority[..<colon]
    }
    let suffix = authority[host.endIndex...]
    if !suffix.isEmpty {
      guard suffix.first == ":", let number = UInt16(suffix.dropFirst()), number > 0 else { return nil }
      port = number
    }
    host = host.first == "[" ? host.dropFirst().dropLast() : host
    guard !host.isEmpty, host.utf8.count < 254, !host.contains("@"), !host.contains("[") else { return nil }
    return (Origin(host: host.lowercased(), port: port), path.first == "/" ? String(path) : "/" + path)
  }

  /// The authority component of its URLs.
  package var authority: String {
    let host = host.contains(":") ? "[\(host)]" : host
    return port == 443 ? host : "\(host):\(port)"
  }

  package var description: String { "https://\(authority)" }
}
