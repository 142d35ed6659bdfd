/// What a service answered.
package struct HTTPAnswer: Sendable {
  package let status: Int
  /// By name in lower case.
  package let headers: [String: String]
  package let body: [UInt8]

  package init(status: Int, headers: [String: String], body: [UInt8]) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}
