package import FoundationEssentials
package import Model

/// An endpoint of an app's back-end, to which events are sent.
package struct Webhook: Sendable, Hashable {
  package enum State: String, Sendable, CaseIterable { case enabled, disabled }

  /// Why nothing is sent to an endpoint.
  package enum Cause: String, Codable, Sendable, CaseIterable {
    /// It replied with status 410.
    case gone
    /// Nothing has succeeded for five days.
    case failing
    case `operator`
  }

  package let id: PublicID
  package var url: String
  package var kinds: [String]
  /// The header fields that each message has, by name. The values may be secrets.
  package var headers: [String: String]
  /// Nil: it is enabled.
  package var cause: Cause?
  package let disabledAt: Date?
  package let failingSince: Date?
  package let createdAt: Date

  package init(
    id: PublicID, url: String, kinds: [String], headers: [String: String], cause: Cause?, disabledAt: Date?,
    failingSince: Date?, createdAt: Date
  ) {
    self.id = id
    self.url = url
    self.kinds = kinds
    self.headers = headers
    self.cause = cause
    self.disabledAt = disabledAt
    self.failingSince = failingSince
    self.createdAt = createdAt
  }

  package var state: State { cause == nil ? .enabled : .disabled }
}

/// What became of a message to an endpoint.
package struct WebhookDelivery: NilEncodable, Sendable {
  package enum State: String, Codable, Sendable, CaseIterable { case pending, delivered, failed }

  /// The id of the message, by which endpoints know it again.
  package let id: String
  /// Nil: the event is gone.
  package let kind: String?
  package let state: State
  package let attempts: Int
  /// The status of the last response.
  package let status: Int?
  package let error: String?
  package let createdAt: Date?
  package let triedAt: Date?
  /// Nil: it waits for an older one, or is not sent any more.
  package let nextAt: Date?

  package init(
    id: String, kind: String?, state: State, attempts: Int, status: Int?, error: String?, createdAt: Date?,
    triedAt: Date?, nextAt: Date?
  ) {
    self.id = id
    self.kind = kind
    self.state = state
    self.attempts = attempts
    self.status = status
    self.error = error
    self.createdAt = createdAt
    self.triedAt = triedAt
    self.nextAt = nextAt
  }
}
