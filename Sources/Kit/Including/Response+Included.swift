package import HTTPServer

extension Response {
  /// Returns the JSON of a page or a record with the records that it includes.
  package static func uncached(_ value: some Encodable, including included: Included?) throws -> Response {
    try included.map { try .uncached(Including(value: value, included: $0)) } ?? .uncached(value)
  }

  /// Returns the JSON of something that has a version and of the records that it includes, with the version in the header field `ETag`.
  package static func versioned(
    _ value: some Encodable, _ current: some Versioned, including included: Included?
  ) throws -> Response {
    try included.map { try .versioned(Including(value: value, included: $0), current) } ?? .versioned(value, current)
  }
}
