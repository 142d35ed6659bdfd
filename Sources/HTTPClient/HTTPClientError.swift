/// Why a request got no answer.
package struct HTTPClientError: Error, Sendable, CustomStringConvertible {
  /// What happened, in a sentence.
  package let description: String

  package init(_ description: String) { self.description = description }
}
