package import FoundationEssentials

extension ProviderKind {
  package static let webPush = ProviderKind(WebPush.self)
}

extension Device {
  /// A browser, by its subscription.
  package static func webPush(_ subscription: Subscription) -> Device {
    Device(.webPush, at: subscription.endpoint, subscription: subscription)
  }
}

/// Web Push (RFC 8030) with encrypted messages (RFC 8291), authorized by VAPID (RFC 8292).
package struct WebPush: Provider {
  package static let name = "web_push"
  package static let owner = "browsers'"
  package static let credentials = "VAPID key for browsers; without it the worker sends them nothing"
  package static let isOfBrowsers = true
  package static let subscriptionKeyName: String? = "vapid-key"
  package static let responseFields: Set = ["location", "retry-after"]
  package static let shards = 3..<5
  /// Of the push services of the makers of browsers, and of the servers that users name.
  private static let (makersShard, foreignShard) = (3, 4)
  /// Push services accept a token for at most a day (RFC 8292, section 2).
  private static let tokenSeconds = 12 * 3600
  private static let maxTTL = 28 * 86_400

  private let subject: String
  private let key: PrivateKey
  /// The public key, which the app passes to the browser (`applicationServerKey`).
  package let publicKey: String

  private struct File: Decodable {
    let subject: String
    let privateKey: String
  }

  /// Reads a file of credentials: `subject`, a mailto or https URL that the push service may write to, and `private_key`, 32 bytes in
  /// base64url.
  ///
  /// - Parameter origin: of no use: subscriptions name the servers.
  package init(file path: String, origin: Origin? = nil) throws(PushError) {
    let file = try CredentialsFile.decode(File.self, from: path)
    guard ["mailto:", "https://"].contains(where: { file.subject.utf8.starts(with: $0.utf8) }),
      file.subject.utf8.allSatisfy({ 0x21...0x7E ~= $0 })
    else { throw CredentialsFile.invalid(path, "subject is neither a mailto nor an https URL") }
    guard let key = Base64URL.bytes(of: file.privateKey).flatMap({ PrivateKey(scalar: $0) }) else {
      throw CredentialsFile.invalid(path, "private_key is not a private key on P-256, 32 bytes in base64url")
    }
    self.init(subject: file.subject, key: key)
  }

  init(subject: String, key: PrivateKey) {
    self.subject = subject
    self.key = key
    publicKey = Base64URL.text(of: key.publicPoint ?? [])
  }

  package static func isOfMaker(_ origin: Origin) -> Bool {
    let makers = ["fcm.googleapis.com", "updates.push.services.mozilla.com", "web.push.apple.com"]
    return origin.port == 443 && (makers.contains(origin.host) || origin.host.hasSuffix(".notify.windows.com"))
  }

  package static func shard(ofAddress address: String) -> Int {
    Origin.split(address).map { isOfMaker($0.0) } == true ? makersShard : foreignShard
  }

  package static func device(at address: String, keys: Device.Keys?, environment: String?) throws(PushError) -> Device {
    guard let keys else { throw PushError(.invalidDevice, "a subscription has keys") }
    return .webPush(try Device.Subscription(endpoint: address, p256dh: keys.p256dh, auth: keys.auth))
  }

  package var subscriptionKey: String? { publicKey }

  package func origin(of device: Device) -> Origin? {
    device.provider == .webPush ? Origin.split(device.address)?.0 : nil
  }

  package func request(
    for notification: Notification, to device: Device, id: UUID, now: Int
  ) throws(PushError) -> PushRequest {
    guard device.provider == .webPush, let subscription = device.subscription,
      let (origin, path) = Origin.split(subscription.endpoint)
    else {
      throw PushError(.invalidDevice, "it is not a subscription of Web Push")
    }
    let message = try notification.encoded(within: ContentEncryption.maxMessageBytes) { json(Message($0)) }
    var random = SystemRandomNumberGenerator()
    let salt = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &random) }
    let body = ContentEncryption.body(
      message, publicKey: subscription.publicKey, secret: subscription.secret, key: .generated(), salt: salt)
    guard let body else { throw PushError(.invalidDevice, "its public key is not a point on P-256") }
    return PushRequest(
      origin, path,
      [
        "content-encoding": "aes128gcm", "content-type": "application/octet-stream",
        "ttl": "\(min(max(0, notification.expiry - now), Self.maxTTL))",
        "urgency": notification.priority == .high ? "high" : "normal",
        "topic": notification.collapseID.map { CollapseID.text($0, maxBytes: 32) },
      ], body)
  }

  package func authorization(for origin: Origin, now: Int) -> AuthorizationStep {
    let claims = Claims(aud: origin.description, exp: now + Self.tokenSeconds, sub: subject)
    let token = JSONWebToken.signed(claims, with: key)
    return .ready(
      Authorization(value: "vapid t=\(token),k=\(publicKey)", start: now, renewal: now + Self.tokenSeconds / 2))
  }

  package func outcome(of response: PushResponse, now: Int) -> Outcome {
    let reason = "status \(response.status)"
    switch response.status {
    case 200...202: return .delivered(id: response.headers["location"])
    case 404, 410: return .gone(since: nil)
    case 401: return .authorizationExpired
    case 403: return .credentialsRefused(reason)
    // 406: the service of Windows has had too many for this device.
    case 406, 429, 500, 502...504: return .retry(after: response.retryAfter(now: now), reason)
    case 300...399: return .deviceRefused("\(reason): redirects are not followed")
    case 400...499: return .refused(reason)
    default: return .unknown(reason)
    }
  }

  private struct Claims: Encodable {
    let aud: String
    let exp: Int
    let sub: String
  }

  /// What the app's service worker receives.
  private struct Message: Encodable {
    let kind: String
    let title: String
    let body: String
    let badge: Int?
    let mediaUrl: String?
    let tag: String?
    let data: [String: String]?

    init(_ notification: Notification) {
      (kind, title, body) = (notification.kind, notification.title, notification.body)
      (badge, mediaUrl, tag) = (notification.badge, notification.mediaURL, notification.collapseID)
      data = notification.data.isEmpty ? nil : notification.data
    }
  }
}
