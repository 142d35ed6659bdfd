/// Where a notification is sent.
package struct Device: Sendable, Hashable {
  package let provider: ProviderKind
  /// The token, or the endpoint of the subscription.
  package let address: String
  /// Where the token is valid; nil: where the credentials say.
  package let environment: String?
  /// Of a browser.
  package let subscription: Subscription?

  package init(
    _ provider: ProviderKind, at address: String, environment: String? = nil, subscription: Subscription? = nil
  ) {
    self.provider = provider
    self.address = address
    self.environment = environment
    self.subscription = subscription
  }

  /// The keys of a subscription, in base64url (RFC 8291).
  package struct Keys: Sendable, Hashable {
    package let p256dh: String
    package let auth: String

    package init(p256dh: String, auth: String) {
      self.p256dh = p256dh
      self.auth = auth
    }
  }

  /// A subscription of a browser (Push API, PushSubscription).
  package struct Subscription: Sendable, Hashable {
    /// The push resource, an https URL without a fragment.
    package let endpoint: String
    /// The public key, an uncompressed point on P-256.
    package let publicKey: [UInt8]
    /// The authentication secret, 16 bytes.
    package let secret: [UInt8]

    /// - Throws: `invalidDevice` for keys in another form than base64url of 65 and 16 bytes, and for another URL.
    package init(endpoint: String, p256dh: String, auth: String) throws(PushError) {
      guard Origin.split(endpoint) != nil else {
        throw PushError(.invalidDevice, "the endpoint is not an https URL of at most \(Origin.maxBytes) bytes")
      }
      guard let publicKey = Base64URL.bytes(of: p256dh), PublicPoint(publicKey) != nil else {
        throw PushError(.invalidDevice, "p256dh is not a point on P-256 in base64url")
      }
      guard let secret = Base64URL.bytes(of: auth), secret.count == 16 else {
        throw PushError(.invalidDevice, "auth is not 16 bytes in base64url")
      }
      self.endpoint = endpoint
      self.publicKey = publicKey
      self.secret = secret
    }
  }
}
