package import Platform

/// One method on one path pattern and what answers it.
package struct Route: Sendable {
  /// Judges a head, with the address it comes from, before anything of the body is read: throws what refuses it.
  ///
  /// - Returns: who asks; nil: anybody.
  package typealias Admission = @Sendable (RequestHead, IPAddress) throws(Problem) -> String?
  /// Answers a request; a thrown `Problem` is an answer too, anything else becomes 500.
  package typealias Handler = @Sendable (Request) async throws -> Response

  package let method: String
  let pattern: PathPattern
  /// The pattern as written: a log or a metric may show it where the path itself would be too much.
  package let template: String
  /// The most bytes of body it takes.
  package let bodyLimit: Int64
  /// Whether it changes nothing, so that its handler is cancelled once the client is gone (RFC 9110, section 9.2.1).
  let isSafe: Bool
  let admission: Admission
  let handler: Handler

  /// - Parameters:
  ///   - method: GET serves HEAD too.
  ///   - template: a path whose `{name}` segments match anything, `Request.parameter(_:)` tells what.
  ///   - bodyLimit: in bytes; a longer body is answered with 413, before it is read when its length was told.
  ///   - isSafe: whether it changes nothing; nil: GET does not, the others do.
  package init(
    _ method: String, _ template: String, bodyLimit: Int64 = 0, isSafe: Bool? = nil,
    admission: @escaping Admission = { (_, _) throws(Problem) in nil }, handler: @escaping Handler
  ) {
    self.method = method
    pattern = PathPattern(template)
    self.template = template
    self.bodyLimit = bodyLimit
    self.isSafe = isSafe ?? (method == "GET")
    self.admission = admission
    self.handler = handler
  }
}
