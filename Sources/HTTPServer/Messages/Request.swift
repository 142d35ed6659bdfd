/// A request whose head has come and passed the framing guard; its body is read as it arrives.
package struct Request: Sendable {
  /// The method, capitals as sent.
  package let method: String
  package let target: RequestTarget
  package let headers: HeaderFields
  package let id: RequestID
  /// What the route's `{name}` patterns matched.
  package internal(set) var parameters: [String: String] = [:]
  /// The body; it can be read once.
  package let body: RequestBody

  /// The value captured for `name`; a handler names only what its own pattern holds.
  package func parameter(_ name: String) -> String { parameters[name] ?? "" }
}
