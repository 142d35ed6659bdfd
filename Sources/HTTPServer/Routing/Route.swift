/// One method on one path pattern and what answers it.
package struct Route: Sendable {
  /// Answers a request; a thrown `Problem` is an answer too, anything else becomes 500.
  package typealias Handler = @Sendable (Request) async throws -> Response

  package let method: String
  let pattern: PathPattern
  /// The pattern as written: a log or a metric may show it where the path itself would be too much.
  package let template: String
  /// The most bytes of body it takes.
  package let bodyLimit: Int64
  let handler: Handler

  /// - Parameters:
  ///   - method: GET serves HEAD too.
  ///   - template: a path whose `{name}` segments match anything, `Request.parameter(_:)` tells what.
  ///   - bodyLimit: in bytes; a longer body is answered with 413, before it is read when its length was told.
  package init(_ method: String, _ template: String, bodyLimit: Int64 = 0, handler: @escaping Handler) {
    self.method = method
    pattern = PathPattern(template)
    self.template = template
    self.bodyLimit = bodyLimit
    self.handler = handler
  }
}
