package import FoundationEssentials
import Model

extension ProviderKind {
  package static let fcm = ProviderKind(FCM.self)
}

extension Device {
  /// A device that Firebase sends to, by its registration token.
  package static func fcm(_ token: String) -> Device { Device(.fcm, at: token) }
}

/// Firebase Cloud Messaging by its HTTP v1 API, authorized by OAuth 2.0 for a service account (RFC 7523).
package struct FCM: Provider {
  package static let name = "fcm"
  package static let owner = "Firebase's"
  package static let credentials = "service account for Firebase; without it the worker sends nothing to Firebase"
  package static let shards = 2..<3
  package static let deliversData = true
  static let maxPayloadBytes = 4096
  private static let maxTTL = 28 * 86_400

  private let origin: Origin
  private let tokens: (origin: Origin, path: String)
  /// The address of the token server as the service account names it, which is the audience of assertions.
  private let audience: String
  private let project: String
  private let email: String
  private let keyID: String
  private let key: PrivateKey

  private struct File: Decodable {
    let type: String
    let projectId: String
    let privateKeyId: String
    let privateKey: String
    let clientEmail: String
    let tokenUri: String
  }

  /// Reads the JSON file of a service account, as Google issues it.
  ///
  /// - Parameter origin: in place of Google's servers, for tests.
  package init(file path: String, origin: Origin? = nil) throws(PushError) {
    let file = try CredentialsFile.decode(File.self, from: path)
    guard file.type == "service_account" else { throw CredentialsFile.invalid(path, "type is not service_account") }
    let isName = { (name: String) in
      !name.isEmpty && name.utf8.allSatisfy { $0.isAlphanumeric || "-_.@:".utf8.contains($0) }
    }
    for (name, value) in [("project_id", file.projectId), ("private_key_id", file.privateKeyId)] {
      guard isName(value) else { throw CredentialsFile.invalid(path, "\(name) has other characters") }
    }
    guard let key = PrivateKey(pem: Array(file.privateKey.utf8)), key.isRSA else {
      throw CredentialsFile.invalid(path, "private_key is not an RSA key of at least 2,048 bits in PEM")
    }
    guard isName(file.clientEmail) else { throw CredentialsFile.invalid(path, "client_email has other characters") }
    guard let (tokenOrigin, tokenPath) = Origin.split(file.tokenUri),
      origin != nil || tokenOrigin == Origin(host: "oauth2.googleapis.com")
    else { throw CredentialsFile.invalid(path, "token_uri is not on https://oauth2.googleapis.com") }
    self.origin = origin ?? Origin(host: "fcm.googleapis.com")
    tokens = (origin ?? tokenOrigin, tokenPath)
    audience = file.tokenUri
    project = file.projectId
    email = file.clientEmail
    keyID = file.privateKeyId
    self.key = key
  }

  package static func device(at address: String, keys: Device.Keys?, environment: String?) -> Device { .fcm(address) }

  package func origin(of device: Device) -> Origin? { device.provider == .fcm ? origin : nil }

  package func request(
    for notification: Notification, to device: Device, id: UUID, now: Int
  ) throws(PushError) -> PushRequest {
    let token = device.address
    guard device.provider == .fcm, 1...1024 ~= token.utf8.count else {
      throw PushError(.invalidDevice, "a registration token of Firebase has 1 to 1,024 bytes")
    }
    let ttl = min(max(0, notification.expiry - now), Self.maxTTL)
    let body = try notification.encoded(within: Self.maxPayloadBytes) {
      json(Envelope(message: Message($0, token: token, ttl: ttl)))
    }
    return PushRequest(
      origin, "/v1/projects/\(project)/messages:send", ["content-type": "application/json; charset=utf-8"], body)
  }

  package func authorization(for origin: Origin, now: Int) -> AuthorizationStep {
    let claims = Claims(
      iss: email, scope: "https://www.googleapis.com/auth/firebase.messaging", aud: audience, iat: now, exp: now + 3600)
    let assertion = JSONWebToken.signed(claims, with: key, id: keyID)
    return .fetch(
      PushRequest(
        tokens.origin, tokens.path, ["content-type": "application/x-www-form-urlencoded"],
        Array("grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(assertion)".utf8)))
  }

  package func authorization(from response: PushResponse, now: Int) -> Authorization? {
    guard response.status == 200, let token = try? JSON.decode(AccessToken.self, from: response.body),
      token.accessToken.utf8.allSatisfy({ 0x21...0x7E ~= $0 })
    else { return nil }
    // Five minutes early, but not again at once.
    let seconds = min(max(token.expiresIn, 360), 3600) - 300
    return Authorization(value: "Bearer \(token.accessToken)", start: now, renewal: now + seconds)
  }

  package func outcome(of response: PushResponse, now: Int) -> Outcome {
    let answer = try? JSON.decode(Answer.self, from: response.body)
    if response.status == 200 { return .delivered(id: answer?.name) }
    let reason = answer?.error?.details?.compactMap(\.errorCode).first ?? answer?.error?.status
    let text = reason ?? "status \(response.status)"
    switch (response.status, reason) {
    case (404, "UNREGISTERED"): return .gone(since: nil)
    case (403, "SENDER_ID_MISMATCH"): return .deviceRefused(text)
    case (400, _) where answer?.error?.isOfToken == true: return .deviceRefused(text)
    // Of a project that does not exist all devices are refused, so that none goes.
    case (404, "NOT_FOUND"): return .deviceRefused(text)
    // The credentials of Apple or of a browser behind this one token: the others are not refused.
    case (401, "THIRD_PARTY_AUTH_ERROR"): return .retry(after: nil, text)
    case (403, _): return .credentialsRefused(text)
    case (401, _): return .authorizationExpired
    // Without Retry-After, a minute after a quota is exceeded.
    case (429, _): return .retry(after: response.retryAfter(now: now) ?? 60, text)
    case (500, _), (502...504, _): return .retry(after: response.retryAfter(now: now), text)
    case (400, _), (404, _), (413, _): return .refused(text)
    default: return .unknown(text)
    }
  }
}
