/// What a request was answered with, kept so that its repetition is answered alike.
package struct IdempotentAnswer: Sendable, Hashable {
  package let status: Int
  /// The header field `Location`.
  package let location: String?
  /// JSON.
  package let body: [UInt8]

  package init(status: Int, location: String?, body: [UInt8]) {
    self.status = status
    self.location = location
    self.body = body
  }
}
