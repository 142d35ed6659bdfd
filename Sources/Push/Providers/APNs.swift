internal import Crypto
package import FoundationEssentials
import Model

extension ProviderKind {
  package static let apns = ProviderKind(APNs.self)
}

extension Device {
  /// A device of Apple.
  ///
  /// - Parameters:
  ///   - token: in hexadecimal digits.
  ///   - environment: where it is valid; nil: where the credentials say.
  package static func apns(_ token: String, _ environment: APNs.Environment? = nil) -> Device {
    Device(.apns, at: token, environment: environment?.rawValue)
  }
}

/// Apple Push Notification service, with a provider token ("Sending notification requests to APNs" and "Establishing a token-based
/// connection to APNs" of Apple's documentation).
package struct APNs: Provider {
  package static let name = "apns"
  package static let owner = "Apple's"
  package static let credentials = "credentials for Apple's push service; without them the worker sends nothing to it"
  package static let shards = 0..<2
  package static let responseFields: Set = ["apns-id", "retry-after"]
  package static let environments = Environment.allCases.map(\.rawValue)
  static let maxPayloadBytes = 4096
  /// Apple refuses a token after an hour, and another one within 20 minutes: all workers date theirs by the same half hours, whenever they
  /// start. A clock may be half an hour behind.
  private static let tokenSeconds = 30 * 60

  /// Where the token of a device is valid: production for an app from the store, development for one that a developer installs.
  package enum Environment: String, Sendable, CaseIterable {
    case production
    case development

    fileprivate var origin: Origin {
      switch self {
      case .production: Origin(host: "api.push.apple.com")
      case .development: Origin(host: "api.sandbox.push.apple.com")
      }
    }
  }

  /// The one of devices that name none.
  private let environment: Environment
  private let origin: Origin?
  private let topic: String
  private let keyID: String
  private let teamID: String
  private let key: PrivateKey

  private struct File: Decodable {
    let keyId: String
    let teamId: String
    let topic: String
    let keyFile: String
    let environment: String?
  }

  /// Reads a file of credentials: `key_id`, `team_id`, `topic` (the bundle ID), `key_file` (the path of the .p8 file that Apple issues)
  /// and `environment` of the devices that name none, `production` or `development`.
  ///
  /// - Parameter origin: in place of Apple's servers, for tests.
  package init(file path: String, origin: Origin? = nil) throws(PushError) {
    let file = try CredentialsFile.decode(File.self, from: path)
    for (name, id) in [("key_id", file.keyId), ("team_id", file.teamId)] {
      guard id.utf8.count == 10, id.utf8.allSatisfy({ $0.isAlphanumeric }) else {
        throw CredentialsFile.invalid(path, "\(name) is not 10 letters and digits")
      }
    }
    guard !file.topic.isEmpty, file.topic.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
      throw CredentialsFile.invalid(path, "topic is not a bundle ID")
    }
    guard let environment = Environment(rawValue: file.environment ?? "production") else {
      throw CredentialsFile.invalid(path, "environment is neither production nor development")
    }
    guard let key = PrivateKey(pem: try CredentialsFile.key(file.keyFile, of: path)), key.isP256 else {
      throw CredentialsFile.invalid(path, "key_file is not a private key on P-256 in PEM without a password")
    }
    self.environment = environment
    self.origin = origin
    topic = file.topic
    keyID = file.keyId
    teamID = file.teamId
    self.key = key
  }

  package static func shard(ofAddress address: String) -> Int {
    shards.lowerBound + Int(SHA256.digest(of: Array(address.utf8)).bytes.first ?? 0) % shards.count
  }

  /// The digits in lowercase: an app writes them in either case.
  package static func address(ofToken token: String) throws(PushError) -> String {
    guard 64...200 ~= token.utf8.count, token.utf8.allSatisfy({ $0.isHexadecimal }) else {
      throw PushError(
        .invalidDevice, "the token in the path is not one of Apple's, 64 to 200 hexadecimal digits")
    }
    return token.lowercased()
  }

  package static func device(at address: String, keys: Device.Keys?, environment: String?) -> Device {
    .apns(address, environment.flatMap { Environment(rawValue: $0) })
  }

  package func origin(of device: Device) -> Origin? {
    guard device.provider == .apns else { return nil }
    return origin ?? (device.environment.flatMap { Environment(rawValue: $0) } ?? environment).origin
  }

  package func request(
    for notification: Notification, to device: Device, id: UUID, now: Int
  ) throws(PushError) -> PushRequest {
    let token = device.address
    guard let origin = origin(of: device), 2...200 ~= token.utf8.count, token.utf8.allSatisfy({ $0.isHexadecimal })
    else {
      throw PushError(.invalidDevice, "a device token of Apple is at most 200 hexadecimal digits")
    }
    let body = try notification.encoded(within: Self.maxPayloadBytes) { json(Payload($0)) }
    let isSilent = notification.style == .silent
    return PushRequest(
      origin, "/3/device/\(token)",
      [
        "apns-topic": topic, "apns-push-type": isSilent ? "background" : "alert", "apns-id": id.uuidString.lowercased(),
        // Apple refuses a background notification of any other priority.
        "apns-priority": notification.priority == .high && !isSilent ? "10" : "5",
        "apns-expiration": "\(notification.expiry)",
        "apns-collapse-id": notification.collapseID.map { CollapseID.text($0, maxBytes: 64) },
      ], body)
  }

  package func authorization(for origin: Origin, now: Int) -> AuthorizationStep {
    let start = now - now % Self.tokenSeconds
    let token = JSONWebToken.signed(Claims(iss: teamID, iat: start), with: key, id: keyID)
    return .ready(Authorization(value: "bearer \(token)", start: start, renewal: start + Self.tokenSeconds))
  }

  package func outcome(of response: PushResponse, now: Int) -> Outcome {
    let answer = try? JSON.decode(Answer.self, from: response.body)
    let reason = answer?.reason ?? "status \(response.status)"
    switch (response.status, reason) {
    case (200, _): return .delivered(id: response.headers["apns-id"])
    case (410, _): return .gone(since: answer?.timestamp.map { $0 / 1000 })
    case (400, "BadDeviceToken"), (400, "DeviceTokenNotForTopic"): return .deviceRefused(reason)
    case (403, "ExpiredProviderToken"): return .authorizationExpired
    case (400, "BadTopic"), (400, "MissingTopic"), (400, "TopicDisallowed"), (403, _):
      return .credentialsRefused(reason)
    // An idle connection, which the service is about to close.
    case (400, "IdleTimeout"), (429, _), (500, _), (502...504, _):
      return .retry(after: response.retryAfter(now: now), reason)
    case (400, _), (404, _), (405, _), (413, _): return .refused(reason)
    default: return .unknown(reason)
    }
  }

  private struct Claims: Encodable {
    let iss: String
    let iat: Int
  }

  private struct Answer: Decodable {
    let reason: String?
    /// In milliseconds.
    let timestamp: Int?
  }

  private struct Payload: Encodable {
    let aps: AppleMessage
    let kind: String
    let mediaUrl: String?
    let data: [String: String]?

    init(_ notification: Notification) {
      aps = AppleMessage(notification)
      kind = notification.kind
      mediaUrl = notification.mediaURL
      data = notification.data.isEmpty ? nil : notification.data
    }
  }
}

extension UInt8 {
  var isAlphanumeric: Bool {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: false
    }
  }

  var isHexadecimal: Bool { isAlphanumeric && self | 0x20 <= UInt8(ascii: "f") }
}
