package import Platform

/// A request that was let in; its body is read as it arrives.
package struct Request: Sendable {
  package let head: RequestHead
  package let id: RequestID
  /// Where the client is; behind a trusted proxy whom that one names.
  package let client: IPAddress
  /// Who asks, as the route's admission said; nil: anybody.
  package let principal: String?
  /// What the route's `{name}` patterns matched.
  package let parameters: [String: String]
  /// The body; it can be read once.
  package let body: RequestBody

  /// The method, capitals as sent.
  package var method: String { head.method }
  package var target: RequestTarget { head.target }
  package var headers: HeaderFields { head.headers }

  /// The value captured for `name`; a handler names only what its own pattern holds.
  package func parameter(_ name: String) -> String { parameters[name] ?? "" }
}
